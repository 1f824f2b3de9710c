// Generated from conformance/errors.json by `cargo xtask generate`. Do not edit.

use crate::code_table::code_table;

code_table! {
    /// The manifest declares no such action.
    RequestAction = "request.action", Caller, "Use one of the actions the message lists.";
    /// A batch has 1 to 64 targets; this one has none or more.
    RequestTargetCount = "request.target_count", Caller, "Give at least one target, with the command by --target ID for each; split a larger batch.";
    /// A target id is not a string.
    RequestTargetType = "request.target_type", Caller, "Send every target id as a JSON string.";
    /// A target id has 1 to 128 Unicode code points; this one is empty or longer.
    RequestTargetLength = "request.target_length", Caller, "Give every target an id of that length, with the command by --target ID.";
    /// A target id contains a slash, a backslash, a colon or NUL.
    RequestTargetCharacter = "request.target_character", Caller, "Use an id without these four characters.";
    /// The same target id stands twice in the batch.
    RequestTargetDuplicate = "request.target_duplicate", Caller, "Send each target once.";
    /// The parameters are not a JSON object.
    RequestParametersType = "request.parameters_type", Caller, "Send an object that maps parameter names to values.";
    /// The invoke frame would pass 1,048,576 bytes.
    RequestTooLarge = "request.too_large", Caller, "Send smaller parameters or fewer targets.";
    /// A host frame is not the exact message the protocol has at this place: a field is missing, unknown or of the wrong type.
    RequestMessage = "request.message", Host, "This is a fault of the host; read the place the message names.";
    /// The host speaks another protocol version than this module.
    RequestVersion = "request.version", Host, "Declare the matching runtime.protocol in the manifest.";
    /// The host offers another host API than 1.
    RequestHostApi = "request.host_api", Host, "Use a host with host API 1.";
    /// The request id is not a string of 1 to 128 code points without NUL.
    RequestId = "request.id", Host, "This is a fault of the host.";
    /// A file that the command was given cannot be read.
    RequestFile = "request.file", Caller, "Check the path and its permissions; - is standard input.";
    /// A frame declares a payload of 0 bytes.
    FrameEmpty = "frame.empty", Module, "Write the payload's byte length in the header.";
    /// A frame declares, or would need, more than 1,048,576 payload bytes.
    FrameTooLarge = "frame.too_large", Module, "Return less data in one frame, and write nothing but frames to standard output.";
    /// The stream ended inside a frame header or payload.
    FrameTruncated = "frame.truncated", Module, "Write the whole frame, and flush it before the process ends.";
    /// The stream ended where a frame was due.
    FrameMissing = "frame.missing", Module, "Write both frames, hello and then result; an SDK does it when its run() is called.";
    /// Bytes follow the last frame.
    FrameExtra = "frame.extra", Module, "Write nothing to standard output but the frames.";
    /// The payload is JSON, but not an object, or does not begin as one (a byte-order mark counts).
    JsonNotObject = "json.not_object", Module, "Write one JSON object, without a byte-order mark.";
    /// The document ends inside a value, or is empty.
    JsonTruncated = "json.truncated", Module, "Complete it: close every string, list and object, and write the whole file or frame.";
    /// The payload is not UTF-8.
    JsonUtf8 = "json.utf8", Module, "Encode text as UTF-8.";
    /// The payload is not JSON at this byte.
    JsonSyntax = "json.syntax", Module, "Use a JSON encoder; comments, trailing commas, NaN and unquoted names are not JSON.";
    /// Something other than white space follows the object.
    JsonTrailing = "json.trailing", Module, "Write exactly one object, with nothing behind it.";
    /// A number is not written as JSON writes numbers.
    JsonNumber = "json.number", Module, "No leading zeros, plus signs, hexadecimal or bare decimal points.";
    /// A string holds an escape that JSON does not know.
    JsonEscape = "json.escape", Module, "Use the JSON escapes only.";
    /// A string holds a raw control character.
    JsonControl = "json.control", Module, "Escape characters below U+0020.";
    /// A name or string holds U+0000, raw or escaped.
    JsonNul = "json.nul", Module, "Text in this protocol has no NUL.";
    /// A string holds an unpaired UTF-16 surrogate escape.
    JsonSurrogate = "json.surrogate", Module, "Repair the text before encoding it.";
    /// A name stands twice in one object (compared after unescaping).
    JsonDuplicateKey = "json.duplicate_key", Module, "Write each name once.";
    /// A name begins with $serde_json::private::.
    JsonReservedKey = "json.reserved_key", Module, "Use another name.";
    /// An integer lies outside plus or minus 9007199254740991.
    JsonIntegerRange = "json.integer_range", Module, "Send a string, or a number with a fraction or exponent.";
    /// A number is not finite as a binary64 value.
    JsonNonfinite = "json.nonfinite", Module, "NaN and infinities have no JSON form; send null or a string.";
    /// A value lies deeper than the profile allows (process protocols: at depth 13 or more, the root being 0).
    JsonDepth = "json.depth", Module, "Flatten the data.";
    /// An object or array has more entries than the profile allows (process protocols: 256).
    JsonEntries = "json.entries", Module, "Split the data.";
    /// A name is longer than the profile allows (process protocols: 240 code points).
    JsonNameLength = "json.name_length", Module, "Use shorter names.";
    /// A string is longer than the profile allows (process protocols: 65,536 code points).
    JsonStringLength = "json.string_length", Module, "Split the text.";
    /// The module's first frame is not exactly the hello of its protocol.
    OutputHello = "output.hello", Module, "Send the hello exactly, before anything else.";
    /// A frame has a type that this protocol does not have at this place.
    OutputType = "output.type", Module, "Protocol 1 has two frames: hello and result.";
    /// The result frame lacks a field, has an unknown one, or one of the wrong type.
    OutputMessage = "output.message", Module, "Send exactly version, type, id and results.";
    /// The result frame carries another version than the hello.
    OutputVersion = "output.version", Module, "Send the protocol's own version in both frames.";
    /// The result frame does not carry the request id.
    OutputId = "output.id", Module, "Copy the request id unchanged.";
    /// The results are not a list of objects.
    OutputResultsType = "output.results_type", Module, "Return a list with one object per target.";
    /// A result lacks target, has an unknown field, or a field of the wrong type.
    OutputResultFields = "output.result_fields", Module, "A result has target and one of data and error.";
    /// A result names a target that is not in the batch.
    OutputTargetUnknown = "output.target_unknown", Module, "Copy target ids unchanged from the request.";
    /// Two results name the same target.
    OutputTargetDuplicate = "output.target_duplicate", Module, "Return each target once.";
    /// A target of the batch has no result.
    OutputTargetMissing = "output.target_missing", Module, "Return one result for every target.";
    /// A result has both data and error.
    OutputOutcomeBoth = "output.outcome_both", Module, "Return one of the two.";
    /// A result has neither data nor error.
    OutputOutcomeMissing = "output.outcome_missing", Module, "Return data (null is allowed) or error.";
    /// An error is not exactly a code and a message, both strings.
    OutputErrorFields = "output.error_fields", Module, "Return {code, message}.";
    /// An error code is not an identifier: a lower-case letter, then up to 95 of a-z 0-9 _ . -
    OutputErrorCode = "output.error_code", Module, "Use a short lower-case code such as not_found.";
    /// An error message has more than 1,024 code points.
    OutputErrorMessage = "output.error_message", Module, "Shorten the message.";
    /// The handler returned a value that JSON cannot carry.
    OutputValue = "output.value", Module, "Return null, booleans, finite numbers, strings, lists and objects with string names.";
    /// The handler of the whole batch failed, so there is no result.
    OutputHandlerFailed = "output.handler_failed", Module, "Read the trace above this line on standard error.";
    /// The module wrote more than 65,536 bytes to standard error.
    OutputStderrLimit = "output.stderr_limit", Module, "Write less diagnostics; the first 65,536 bytes are kept.";
    /// The module process could not be started.
    ProcessLaunch = "process.launch", Host, "Read the operating system's reason in the message.";
    /// The module ended with a nonzero exit status.
    ProcessExitStatus = "process.exit_status", Module, "Read the module's standard error.";
    /// A signal ended the module.
    ProcessSignal = "process.signal", Module, "Read the module's standard error; a message that begins with memory tells that its limit was reached.";
    /// The module had not finished at its deadline.
    ProcessDeadline = "process.deadline", Module, "Do less per action, look for what it waits on, or give a longer deadline.";
    /// The caller cancelled the action.
    ProcessCancelled = "process.cancelled", Caller, "Nothing to mend.";
    /// A descendant of the module still ran after the module ended. Inside the sandbox all of them end with the module, so there it means output that a process outside holds open.
    ProcessLeftBehind = "process.left_behind", Module, "Wait for child processes before the module exits.";
    /// The module could not read its standard input or write its standard output.
    ProcessIo = "process.io", Host, "Start the module with its three standard streams open, and read its output to the end.";
    /// The module ran out of memory.
    ProcessMemory = "process.memory", Module, "Work on less at a time, or ask for more memory in modberth.json.";
    /// The module was refused processes or threads beyond its limit; stands beside a failure that it explains.
    ProcessTasks = "process.tasks", Module, "Use fewer processes and threads at one time, or ask for more in modberth.json: limits.tasks.";
    /// The module was held up most of the time, because it had used its processor time; stands beside a deadline that it explains.
    ProcessThrottled = "process.throttled", Module, "Compute less, or ask for more in modberth.json: limits.cpu_percent.";
    /// The module's own table of actions is wrong: a name that is no identifier or stands twice, or not exactly one handler for a name.
    ProcessActions = "process.actions", Module, "Mend the table; this is a fault of the module's code.";
    /// The action declares capabilities, and this invocation has no broker or grant for them.
    PolicyCapability = "policy.capability", Policy, "Run an action without capabilities; protocol 1 actions with capabilities never run.";
    /// This machine cannot confine modules.
    SandboxUnavailable = "sandbox.unavailable", Host, "Do one of the two things the message names, and ask modberth doctor; for a module you trust, --unsafe-rlimits-only of the command runs it with less around it.";
    /// A limit of the module's own control group could not be set, or was not what it should be when it was read back; nothing was sent to the module.
    SandboxLimit = "sandbox.limit", Host, "Find out what else changes the control groups of the host; the message names the limit and its file.";
    /// The host runs its most actions at once and its queue is full.
    HostBusy = "host.busy", Host, "Try again when another action has ended.";
    /// The host could not talk to the module process.
    HostIo = "host.io", Host, "Read the operating system's reason in the message.";
    /// No interpreter for the module's language was found.
    HostInterpreter = "host.interpreter", Host, "Install it, or configure its path.";
    /// The package speaks a process protocol that this host does not run.
    HostProtocol = "host.protocol", Host, "Use a host that runs this protocol.";
    /// A limit for waiting does not exist, or is no whole number of milliseconds from 1 to its default.
    HostLimits = "host.limits", Caller, "Limits can only be shortened; the message names the field and its ceiling.";
    /// The action declares no parameter of this name.
    ParameterUnknown = "parameter.unknown", Caller, "Use one of the names the message lists.";
    /// A required parameter is absent.
    ParameterMissing = "parameter.missing", Caller, "Give it, with the command by -p NAME=VALUE.";
    /// A parameter has another JSON type than declared (1.0 and true are no integers).
    ParameterType = "parameter.type", Caller, "Give a value of the declared type.";
    /// A string, or an item of a string-list, is longer than max_length.
    ParameterLength = "parameter.length", Caller, "Send shorter text.";
    /// A number lies below min or above max.
    ParameterRange = "parameter.range", Caller, "Send a number within the bounds.";
    /// A value is not one of the declared choices.
    ParameterChoice = "parameter.choice", Caller, "Send one of the choices the message lists.";
    /// A string-list has more items than max_items.
    ParameterItems = "parameter.items", Caller, "Send fewer items.";
    /// An item of a string-list is empty.
    ParameterItemEmpty = "parameter.item_empty", Caller, "Send nonempty items.";
    /// An item of a string-list stands twice.
    ParameterItemDuplicate = "parameter.item_duplicate", Caller, "Send each item once.";
    /// A parameter other than a string-list is given twice on the command line.
    ParameterRepeated = "parameter.repeated", Caller, "Give it once.";
    /// There is no package folder or archive at this path.
    PackageNotFound = "package.not_found", Caller, "Check the path; a package is the folder that holds manifest.json, or an archive.";
    /// The file system refused to read or write a file of the package.
    PackageIo = "package.io", Host, "See the message of the system; mend it and try again.";
    /// The package has no manifest.json.
    PackageManifestMissing = "package.manifest_missing", Module, "Give the folder that holds manifest.json, or pack the archive again.";
    /// manifest.json has more than 65,536 bytes, or would have when packed.
    PackageManifestTooLarge = "package.manifest_too_large", Module, "Shorten it: texts, the ui, the number of files.";
    /// An object of the manifest, or of modberth.json, lacks a required field.
    PackageFieldMissing = "package.field_missing", Module, "Add the field that the message names.";
    /// An object of the manifest, or of modberth.json, has a field that does not belong there.
    PackageFieldUnknown = "package.field_unknown", Module, "Remove the field, or mend its spelling; what is not of the format goes into modberth.json.";
    /// A field has another JSON type than the format asks for (1.0 and true are no integers).
    PackageFieldType = "package.field_type", Module, "Write the value in the type that the message names.";
    /// A field whose value the format fixes holds another one.
    PackageFieldValue = "package.field_value", Module, "Write the value that the message names.";
    /// A field holds a word that is not one of the allowed ones.
    PackageChoice = "package.choice", Module, "Use one of the words that the message lists.";
    /// A text is shorter or longer than its field allows, counted in Unicode code points.
    PackageTextLength = "package.text_length", Module, "Change the text to fit the bound in the message.";
    /// A list or object has fewer or more entries than it may have.
    PackageCount = "package.count", Module, "Change the number of entries to fit the bound in the message.";
    /// A number lies outside the range of its field.
    PackageNumber = "package.number", Module, "Write a number inside the range in the message.";
    /// A name is not an identifier: a lower-case letter, then up to 95 of a-z 0-9 _ . -
    PackageIdentifier = "package.identifier", Module, "Rename it by that rule.";
    /// A name or value that must be unique stands twice.
    PackageDuplicate = "package.duplicate", Module, "Remove or rename one of the two.";
    /// The version is not three numbers without leading zeros, with an optional -suffix of a-z 0-9 . -
    PackageVersion = "package.version", Module, "Write a version such as 1.0.0 or 1.2.0-beta.1, at most 64 characters.";
    /// A capability is not of the form area:right, each a lower-case letter then up to 31 of a-z 0-9 -
    PackageCapability = "package.capability", Module, "Write a capability such as system:read.";
    /// A capability that an action, the ui or optional_capabilities needs is not in the capabilities of the package.
    PackageCapabilityUndeclared = "package.capability_undeclared", Module, "Add it to capabilities, or stop using it.";
    /// The package is a provider adapter: its contract is not part of this host.
    PackageRole = "package.role", Module, "Use a package of role module; adapters run only in the system whose contract they follow.";
    /// A package of role module has an adapter field or the capability provider:admin, which only provider adapters may have.
    PackageAdapter = "package.adapter", Module, "Remove it.";
    /// The language does not belong to the kind of runtime.
    PackageRuntimeLanguage = "package.runtime_language", Module, "native takes c, cpp or rust; python takes python; javascript takes javascript or typescript; declarative takes none.";
    /// The architecture is not one that this kind of runtime may declare.
    PackageRuntimeArchitecture = "package.runtime_architecture", Module, "A native package names x86_64 or aarch64; the others may also say any.";
    /// runtime.protocol is not the integer 1 or 2.
    PackageRuntimeProtocol = "package.runtime_protocol", Module, "Write 1 or 2, or leave it out for 1.";
    /// A declarative package has a field that only executable ones may have.
    PackageRuntimeField = "package.runtime_field", Module, "Keep only kind and language.";
    /// A path of a member breaks the rules for paths.
    PackageMemberPath = "package.member_path", Module, "Rename the file: parts of A-Z a-z 0-9 _ . - joined by slashes, none beginning with . or - or ending with a dot.";
    /// An entry of files is not a digest of 64 lower-case hexadecimal digits.
    PackageFilesDigest = "package.files_digest", Module, "Leave files empty in a source folder; packing fills it.";
    /// manifest.json stands in the payload or in files; it is never a member of its own list.
    PackageFilesManifest = "package.files_manifest", Module, "Remove it there.";
    /// The entry is not one of the files of the package.
    PackageEntry = "package.entry", Module, "Name a file of the payload as entry, or build the module so that the file exists.";
    /// A parameter has a type that does not exist.
    PackageSchemaType = "package.schema_type", Module, "Use string, string-list, integer, number or boolean.";
    /// A parameter has a bound that its type does not have.
    PackageSchemaField = "package.schema_field", Module, "max_length and choices belong to string and string-list, max_items to string-list, min and max to integer and number.";
    /// min and max of a parameter leave no value, or lie outside plus or minus 9007199254740991 for an integer.
    PackageSchemaRange = "package.schema_range", Module, "Widen the range.";
    /// The choices of a parameter are empty, or one of them is longer than max_length.
    PackageSchemaChoices = "package.schema_choices", Module, "List at least one choice, each within max_length; drop choices to allow every text.";
    /// A name in the ui is one of __proto__, prototype and constructor.
    PackageUiKey = "package.ui_key", Module, "Choose another name.";
    /// A component of the ui has a type that does not exist, or the root is no container.
    PackageUiComponent = "package.ui_component", Module, "Use a known component type; the root is a column, row, group or tabs.";
    /// The ui has more than 128 components, is deeper than 8, or holds a tree beyond 6 levels or 128 items.
    PackageUiSize = "package.ui_size", Module, "Make the ui smaller or flatter.";
    /// A reference in the ui is not an opaque id: 1 to 128 code points without slash, backslash, colon or NUL.
    PackageUiReference = "package.ui_reference", Module, "Write an id of that form; a credential begins with hostcredential-.";
    /// The ui names an action, field, table, column or option that the package does not declare.
    PackageUiTarget = "package.ui_target", Module, "Declare it, or mend the name.";
    /// A binding names a property that its component cannot bind, or has a bad path.
    PackageUiBind = "package.ui_bind", Module, "Bind only the properties of that component, by a path of 1 to 8 keys.";
    /// A value in the ui does not fit its component.
    PackageUiValue = "package.ui_value", Module, "Write a value of the kind and range that the message names.";
    /// modberth.json has more than 1,048,576 bytes.
    PackageHintsTooLarge = "package.hints_too_large", Module, "Keep fewer or smaller examples.";
    /// An example in modberth.json is no legal request for the action.
    PackageExample = "package.example", Module, "Mend the targets or parameters that the message names.";
    /// The archive has, or would have, more than 16,777,216 bytes.
    PackageArchiveTooLarge = "package.archive_too_large", Module, "Ship fewer or smaller files.";
    /// The file is not a ZIP archive that begins with its first member.
    PackageArchiveFormat = "package.archive_format", Module, "Pack the module again; nothing may stand before the first member.";
    /// The archive does not end with exactly one end record and its comment.
    PackageArchiveEnd = "package.archive_end", Module, "Pack the module again; nothing may stand after the archive.";
    /// The archive is split over several disks.
    PackageArchiveDisks = "package.archive_disks", Module, "Pack the module into one file.";
    /// The archive uses the ZIP64 form.
    PackageArchiveZip64 = "package.archive_zip64", Module, "Pack the module without ZIP64; no package is large enough to need it.";
    /// The central directory of the archive is damaged or does not end at the end record.
    PackageArchiveDirectory = "package.archive_directory", Module, "Pack the module again.";
    /// A local header is missing or differs from the central directory.
    PackageArchiveLocal = "package.archive_local", Module, "Pack the module again.";
    /// An extra field of a member is damaged or gives the member another name.
    PackageArchiveExtra = "package.archive_extra", Module, "Pack the module again without extra fields.";
    /// Two members of the archive share bytes, or a member reaches into the central directory.
    PackageArchiveOverlap = "package.archive_overlap", Module, "Pack the module again.";
    /// A member is encrypted.
    PackageArchiveEncrypted = "package.archive_encrypted", Module, "Pack the module without encryption.";
    /// A member is compressed by another method than stored or deflate, or needs a newer ZIP version than 2.0.
    PackageArchiveMethod = "package.archive_method", Module, "Pack the module with stored or deflate.";
    /// A member carries a ZIP flag that packages do not use.
    PackageArchiveFlags = "package.archive_flags", Module, "Pack the module again with a plain ZIP tool.";
    /// The archive holds an entry for a folder.
    PackageArchiveFolder = "package.archive_folder", Module, "Pack the files alone; folders follow from their paths.";
    /// A member of the archive is a symbolic link.
    PackageArchiveLink = "package.archive_link", Module, "Put the file itself into the archive.";
    /// A member of the archive is a device, a pipe or a socket.
    PackageArchiveSpecial = "package.archive_special", Module, "Ship ordinary files only.";
    /// A member of the archive has the setuid, setgid or sticky bit.
    PackageArchiveMode = "package.archive_mode", Module, "Clear these bits and pack again.";
    /// The bytes of a member do not inflate to the size and checksum that the archive states.
    PackageArchiveData = "package.archive_data", Module, "Pack the module again; the file may be damaged.";
    /// The package has more than 256 members, the manifest included.
    PackageMembers = "package.members", Module, "Ship fewer files; a .pyz or a bundle is one file.";
    /// A member has more than 16,777,216 bytes.
    PackageMemberTooLarge = "package.member_too_large", Module, "Split the file or make it smaller.";
    /// The members together have more than 67,108,864 bytes.
    PackageExpandedTooLarge = "package.expanded_too_large", Module, "Ship fewer or smaller files.";
    /// Two members have the same path, or paths that differ only in case.
    PackageMemberDuplicate = "package.member_duplicate", Module, "Remove or rename one of the two.";
    /// A member is a file where another member needs a folder.
    PackageMemberPrefix = "package.member_prefix", Module, "Rename one of the two.";
    /// A member is not listed in files.
    PackageMemberUnlisted = "package.member_unlisted", Module, "Leave files empty in a source folder and pack again, or remove the member.";
    /// A file that files lists is not there.
    PackageMemberMissing = "package.member_missing", Module, "Leave files empty in a source folder and pack again, or add the file.";
    /// The bytes of a member do not have the digest that files states.
    PackageMemberDigest = "package.member_digest", Module, "Leave files empty in a source folder and pack again; in an installed package the file was changed.";
    /// The folder has no payload, or the payload lacks the entry.
    PackagePayloadMissing = "package.payload_missing", Module, "Build the module so that its entry stands in payload/: docs/tutorial.md, 'Make your own package', has the commands for each language; for the examples of Modberth itself: cargo xtask examples.";
    /// A file of the folder is a symbolic link.
    PackageFileLink = "package.file_link", Module, "Put the file itself there.";
    /// A file of the folder has more than one name (a hard link).
    PackageFileHardLink = "package.file_hard_link", Module, "Copy the file instead of linking it.";
    /// A path, or an entry of the folder, is a device, a pipe or a socket.
    PackageFileSpecial = "package.file_special", Module, "Use ordinary files only.";
    /// A file or folder of the package has a mode under which the module cannot be read or started.
    PackageFileMode = "package.file_mode", Caller, "Run chmod a+rX on it; a native entry needs chmod a+rx.";
    /// A file changed while it was read.
    PackageFileChanged = "package.file_changed", Caller, "Let the build finish, then try again.";
    /// An unpacked file or folder does not have the mode it was unpacked with.
    PackageInstalledMode = "package.installed_mode", Host, "Remove the unpacked package and install it again.";
    /// An unpacked file or folder belongs to another user than the host.
    PackageInstalledOwner = "package.installed_owner", Host, "Remove the unpacked package and install it again.";
    /// The output file exists and holds something else.
    PackageOutputExists = "package.output_exists", Caller, "Choose another name, or pass --force.";
    /// The package is declarative: it has no process to run.
    PackageDeclarative = "package.declarative", Caller, "Run an executable package.";
    /// The package is built for another architecture than this machine.
    PackageArchitecture = "package.architecture", Caller, "Use a package built for this machine, or any.";
    /// The native entry is not a 64-bit little-endian Linux ELF program.
    PackageNativeFormat = "package.native_format", Module, "Build the module as an ordinary Linux program; scripts cannot be native entries.";
    /// The native entry is built for another architecture than the manifest says.
    PackageNativeMachine = "package.native_machine", Module, "Mend runtime.architecture, or build for it.";
    /// The program loader that the native entry asks for is not in a system folder of this machine nor in the package.
    PackageNativeLoader = "package.native_loader", Host, "Link the module statically, or against the loader of the target system.";
}
