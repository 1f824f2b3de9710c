// Generated from conformance/errors.json by `cargo xtask generate`. Do not edit.

use crate::code_table::code_table;

code_table! {
    /// The manifest declares no such action.
    RequestAction = "request.action", Caller;
    /// A batch has 1 to 64 targets; this one has none or more.
    RequestTargetCount = "request.target_count", Caller;
    /// A target id is not a string.
    RequestTargetType = "request.target_type", Caller;
    /// A target id has 1 to 128 Unicode code points; this one is empty or longer.
    RequestTargetLength = "request.target_length", Caller;
    /// A target id contains a slash, a backslash, a colon or NUL.
    RequestTargetCharacter = "request.target_character", Caller;
    /// The same target id stands twice in the batch.
    RequestTargetDuplicate = "request.target_duplicate", Caller;
    /// The parameters are not a JSON object.
    RequestParametersType = "request.parameters_type", Caller;
    /// The invoke frame would pass 1,048,576 bytes.
    RequestTooLarge = "request.too_large", Caller;
    /// A host frame is not the exact message the protocol has at this place: a field is missing, unknown or of the wrong type.
    RequestMessage = "request.message", Host;
    /// The host speaks another protocol version than this module.
    RequestVersion = "request.version", Host;
    /// The host offers another host API than 1.
    RequestHostApi = "request.host_api", Host;
    /// The request id is not a string of 1 to 128 code points without NUL.
    RequestId = "request.id", Host;
    /// A frame declares a payload of 0 bytes.
    FrameEmpty = "frame.empty", Module;
    /// A frame declares, or would need, more than 1,048,576 payload bytes.
    FrameTooLarge = "frame.too_large", Module;
    /// The stream ended inside a frame header or payload.
    FrameTruncated = "frame.truncated", Module;
    /// The stream ended where a frame was due.
    FrameMissing = "frame.missing", Module;
    /// Bytes follow the last frame.
    FrameExtra = "frame.extra", Module;
    /// The payload is JSON, but not an object, or does not begin as one (a byte-order mark counts).
    JsonNotObject = "json.not_object", Module;
    /// The document ends inside a value, or is empty.
    JsonTruncated = "json.truncated", Module;
    /// The payload is not UTF-8.
    JsonUtf8 = "json.utf8", Module;
    /// The payload is not JSON at this byte.
    JsonSyntax = "json.syntax", Module;
    /// Something other than white space follows the object.
    JsonTrailing = "json.trailing", Module;
    /// A number is not written as JSON writes numbers.
    JsonNumber = "json.number", Module;
    /// A string holds an escape that JSON does not know.
    JsonEscape = "json.escape", Module;
    /// A string holds a raw control character.
    JsonControl = "json.control", Module;
    /// A name or string holds U+0000, raw or escaped.
    JsonNul = "json.nul", Module;
    /// A string holds an unpaired UTF-16 surrogate escape.
    JsonSurrogate = "json.surrogate", Module;
    /// A name stands twice in one object (compared after unescaping).
    JsonDuplicateKey = "json.duplicate_key", Module;
    /// A name begins with $serde_json::private::.
    JsonReservedKey = "json.reserved_key", Module;
    /// An integer lies outside plus or minus 9007199254740991.
    JsonIntegerRange = "json.integer_range", Module;
    /// A number is not finite as a binary64 value.
    JsonNonfinite = "json.nonfinite", Module;
    /// A value lies deeper than the profile allows (process protocols: at depth 13 or more, the root being 0).
    JsonDepth = "json.depth", Module;
    /// An object or array has more entries than the profile allows (process protocols: 256).
    JsonEntries = "json.entries", Module;
    /// A name is longer than the profile allows (process protocols: 240 code points).
    JsonNameLength = "json.name_length", Module;
    /// A string is longer than the profile allows (process protocols: 65,536 code points).
    JsonStringLength = "json.string_length", Module;
    /// The module's first frame is not exactly the hello of its protocol.
    OutputHello = "output.hello", Module;
    /// A frame has a type that this protocol does not have at this place.
    OutputType = "output.type", Module;
    /// The result frame lacks a field, has an unknown one, or one of the wrong type.
    OutputMessage = "output.message", Module;
    /// The result frame carries another version than the hello.
    OutputVersion = "output.version", Module;
    /// The result frame does not carry the request id.
    OutputId = "output.id", Module;
    /// The results are not a list of objects.
    OutputResultsType = "output.results_type", Module;
    /// A result lacks target, has an unknown field, or a field of the wrong type.
    OutputResultFields = "output.result_fields", Module;
    /// A result names a target that is not in the batch.
    OutputTargetUnknown = "output.target_unknown", Module;
    /// Two results name the same target.
    OutputTargetDuplicate = "output.target_duplicate", Module;
    /// A target of the batch has no result.
    OutputTargetMissing = "output.target_missing", Module;
    /// A result has both data and error.
    OutputOutcomeBoth = "output.outcome_both", Module;
    /// A result has neither data nor error.
    OutputOutcomeMissing = "output.outcome_missing", Module;
    /// An error is not exactly a code and a message, both strings.
    OutputErrorFields = "output.error_fields", Module;
    /// An error code is not an identifier: a lower-case letter, then up to 95 of a-z 0-9 _ . -
    OutputErrorCode = "output.error_code", Module;
    /// An error message has more than 1,024 code points.
    OutputErrorMessage = "output.error_message", Module;
    /// The handler returned a value that JSON cannot carry.
    OutputValue = "output.value", Module;
    /// The handler of the whole batch failed, so there is no result.
    OutputHandlerFailed = "output.handler_failed", Module;
    /// The module wrote more than 65,536 bytes to standard error.
    OutputStderrLimit = "output.stderr_limit", Module;
    /// The module process could not be started.
    ProcessLaunch = "process.launch", Host;
    /// The module ended with a nonzero exit status.
    ProcessExitStatus = "process.exit_status", Module;
    /// A signal ended the module.
    ProcessSignal = "process.signal", Module;
    /// The module had not finished at its deadline.
    ProcessDeadline = "process.deadline", Module;
    /// The caller cancelled the action.
    ProcessCancelled = "process.cancelled", Caller;
    /// A descendant of the module still ran after the module ended.
    ProcessLeftBehind = "process.left_behind", Module;
    /// The module could not read its standard input or write its standard output.
    ProcessIo = "process.io", Host;
    /// The module ran out of memory.
    ProcessMemory = "process.memory", Module;
    /// The module's own table of actions is wrong: a name that is no identifier or stands twice, or not exactly one handler for a name.
    ProcessActions = "process.actions", Module;
    /// The action declares capabilities, and this invocation has no broker or grant for them.
    PolicyCapability = "policy.capability", Policy;
    /// This machine cannot confine the module as asked.
    SandboxUnavailable = "sandbox.unavailable", Host;
    /// The host runs its most actions at once and its queue is full.
    HostBusy = "host.busy", Host;
    /// The host could not talk to the module process.
    HostIo = "host.io", Host;
    /// No interpreter for the module's language was found.
    HostInterpreter = "host.interpreter", Host;
    /// The package speaks a process protocol that this host does not run.
    HostProtocol = "host.protocol", Host;
    /// A limit for waiting does not exist, or is no whole number of milliseconds from 1 to its default.
    HostLimits = "host.limits", Caller;
    /// The action declares no parameter of this name.
    ParameterUnknown = "parameter.unknown", Caller;
    /// A required parameter is absent.
    ParameterMissing = "parameter.missing", Caller;
    /// A parameter has another JSON type than declared (1.0 and true are no integers).
    ParameterType = "parameter.type", Caller;
    /// A string, or an item of a string-list, is longer than max_length.
    ParameterLength = "parameter.length", Caller;
    /// A number lies below min or above max.
    ParameterRange = "parameter.range", Caller;
    /// A value is not one of the declared choices.
    ParameterChoice = "parameter.choice", Caller;
    /// A string-list has more items than max_items.
    ParameterItems = "parameter.items", Caller;
    /// An item of a string-list is empty.
    ParameterItemEmpty = "parameter.item_empty", Caller;
    /// An item of a string-list stands twice.
    ParameterItemDuplicate = "parameter.item_duplicate", Caller;
    /// A parameter other than a string-list is given twice on the command line.
    ParameterRepeated = "parameter.repeated", Caller;
    /// There is no package folder or archive at this path.
    PackageNotFound = "package.not_found", Caller;
    /// The file system refused to read or write a file of the package.
    PackageIo = "package.io", Host;
    /// The package has no manifest.json.
    PackageManifestMissing = "package.manifest_missing", Module;
    /// manifest.json has more than 65,536 bytes, or would have when packed.
    PackageManifestTooLarge = "package.manifest_too_large", Module;
    /// An object of the manifest, or of modberth.json, lacks a required field.
    PackageFieldMissing = "package.field_missing", Module;
    /// An object of the manifest, or of modberth.json, has a field that does not belong there.
    PackageFieldUnknown = "package.field_unknown", Module;
    /// A field has another JSON type than the format asks for (1.0 and true are no integers).
    PackageFieldType = "package.field_type", Module;
    /// A field whose value the format fixes holds another one.
    PackageFieldValue = "package.field_value", Module;
    /// A field holds a word that is not one of the allowed ones.
    PackageChoice = "package.choice", Module;
    /// A text is shorter or longer than its field allows, counted in Unicode code points.
    PackageTextLength = "package.text_length", Module;
    /// A list or object has fewer or more entries than it may have.
    PackageCount = "package.count", Module;
    /// A number lies outside the range of its field.
    PackageNumber = "package.number", Module;
    /// A name is not an identifier: a lower-case letter, then up to 95 of a-z 0-9 _ . -
    PackageIdentifier = "package.identifier", Module;
    /// A name or value that must be unique stands twice.
    PackageDuplicate = "package.duplicate", Module;
    /// The version is not three numbers without leading zeros, with an optional -suffix of a-z 0-9 . -
    PackageVersion = "package.version", Module;
    /// A capability is not of the form area:right, each a lower-case letter then up to 31 of a-z 0-9 -
    PackageCapability = "package.capability", Module;
    /// A capability that an action, the ui or optional_capabilities needs is not in the capabilities of the package.
    PackageCapabilityUndeclared = "package.capability_undeclared", Module;
    /// The package is a provider adapter: its contract is not part of this host.
    PackageRole = "package.role", Module;
    /// A package of role module has an adapter field or the capability provider:admin, which only provider adapters may have.
    PackageAdapter = "package.adapter", Module;
    /// The language does not belong to the kind of runtime.
    PackageRuntimeLanguage = "package.runtime_language", Module;
    /// The architecture is not one that this kind of runtime may declare.
    PackageRuntimeArchitecture = "package.runtime_architecture", Module;
    /// runtime.protocol is not the integer 1 or 2.
    PackageRuntimeProtocol = "package.runtime_protocol", Module;
    /// A declarative package has a field that only executable ones may have.
    PackageRuntimeField = "package.runtime_field", Module;
    /// A path of a member breaks the rules for paths.
    PackageMemberPath = "package.member_path", Module;
    /// An entry of files is not a digest of 64 lower-case hexadecimal digits.
    PackageFilesDigest = "package.files_digest", Module;
    /// manifest.json stands in the payload or in files; it is never a member of its own list.
    PackageFilesManifest = "package.files_manifest", Module;
    /// The entry is not one of the files of the package.
    PackageEntry = "package.entry", Module;
    /// A parameter has a type that does not exist.
    PackageSchemaType = "package.schema_type", Module;
    /// A parameter has a bound that its type does not have.
    PackageSchemaField = "package.schema_field", Module;
    /// min and max of a parameter leave no value, or lie outside plus or minus 9007199254740991 for an integer.
    PackageSchemaRange = "package.schema_range", Module;
    /// The choices of a parameter are empty, or one of them is longer than max_length.
    PackageSchemaChoices = "package.schema_choices", Module;
    /// A name in the ui is one of __proto__, prototype and constructor.
    PackageUiKey = "package.ui_key", Module;
    /// A component of the ui has a type that does not exist, or the root is no container.
    PackageUiComponent = "package.ui_component", Module;
    /// The ui has more than 128 components, is deeper than 8, or holds a tree beyond 6 levels or 128 items.
    PackageUiSize = "package.ui_size", Module;
    /// A reference in the ui is not an opaque id: 1 to 128 code points without slash, backslash, colon or NUL.
    PackageUiReference = "package.ui_reference", Module;
    /// The ui names an action, field, table, column or option that the package does not declare.
    PackageUiTarget = "package.ui_target", Module;
    /// A binding names a property that its component cannot bind, or has a bad path.
    PackageUiBind = "package.ui_bind", Module;
    /// A value in the ui does not fit its component.
    PackageUiValue = "package.ui_value", Module;
    /// modberth.json has more than 1,048,576 bytes.
    PackageHintsTooLarge = "package.hints_too_large", Module;
    /// An example in modberth.json is no legal request for the action.
    PackageExample = "package.example", Module;
    /// The archive has, or would have, more than 16,777,216 bytes.
    PackageArchiveTooLarge = "package.archive_too_large", Module;
    /// The file is not a ZIP archive that begins with its first member.
    PackageArchiveFormat = "package.archive_format", Module;
    /// The archive does not end with exactly one end record and its comment.
    PackageArchiveEnd = "package.archive_end", Module;
    /// The archive is split over several disks.
    PackageArchiveDisks = "package.archive_disks", Module;
    /// The archive uses the ZIP64 form.
    PackageArchiveZip64 = "package.archive_zip64", Module;
    /// The central directory of the archive is damaged or does not end at the end record.
    PackageArchiveDirectory = "package.archive_directory", Module;
    /// A local header is missing or differs from the central directory.
    PackageArchiveLocal = "package.archive_local", Module;
    /// An extra field of a member is damaged or gives the member another name.
    PackageArchiveExtra = "package.archive_extra", Module;
    /// Two members of the archive share bytes, or a member reaches into the central directory.
    PackageArchiveOverlap = "package.archive_overlap", Module;
    /// A member is encrypted.
    PackageArchiveEncrypted = "package.archive_encrypted", Module;
    /// A member is compressed by another method than stored or deflate, or needs a newer ZIP version than 2.0.
    PackageArchiveMethod = "package.archive_method", Module;
    /// A member carries a ZIP flag that packages do not use.
    PackageArchiveFlags = "package.archive_flags", Module;
    /// The archive holds an entry for a folder.
    PackageArchiveFolder = "package.archive_folder", Module;
    /// A member of the archive is a symbolic link.
    PackageArchiveLink = "package.archive_link", Module;
    /// A member of the archive is a device, a pipe or a socket.
    PackageArchiveSpecial = "package.archive_special", Module;
    /// A member of the archive has the setuid, setgid or sticky bit.
    PackageArchiveMode = "package.archive_mode", Module;
    /// The bytes of a member do not inflate to the size and checksum that the archive states.
    PackageArchiveData = "package.archive_data", Module;
    /// The package has more than 256 members, the manifest included.
    PackageMembers = "package.members", Module;
    /// A member has more than 16,777,216 bytes.
    PackageMemberTooLarge = "package.member_too_large", Module;
    /// The members together have more than 67,108,864 bytes.
    PackageExpandedTooLarge = "package.expanded_too_large", Module;
    /// Two members have the same path, or paths that differ only in case.
    PackageMemberDuplicate = "package.member_duplicate", Module;
    /// A member is a file where another member needs a folder.
    PackageMemberPrefix = "package.member_prefix", Module;
    /// A member is not listed in files.
    PackageMemberUnlisted = "package.member_unlisted", Module;
    /// A file that files lists is not there.
    PackageMemberMissing = "package.member_missing", Module;
    /// The bytes of a member do not have the digest that files states.
    PackageMemberDigest = "package.member_digest", Module;
    /// The folder has no payload, or the payload lacks the entry.
    PackagePayloadMissing = "package.payload_missing", Module;
    /// A file of the folder is a symbolic link.
    PackageFileLink = "package.file_link", Module;
    /// A file of the folder has more than one name (a hard link).
    PackageFileHardLink = "package.file_hard_link", Module;
    /// An entry of the folder is a device, a pipe or a socket.
    PackageFileSpecial = "package.file_special", Module;
    /// A file or folder of the package has a mode under which the module cannot be read or started.
    PackageFileMode = "package.file_mode", Caller;
    /// A file changed while it was read.
    PackageFileChanged = "package.file_changed", Caller;
    /// An unpacked file or folder does not have the mode it was unpacked with.
    PackageInstalledMode = "package.installed_mode", Host;
    /// An unpacked file or folder belongs to another user than the host.
    PackageInstalledOwner = "package.installed_owner", Host;
    /// The output file exists and holds something else.
    PackageOutputExists = "package.output_exists", Caller;
    /// The package is declarative: it has no process to run.
    PackageDeclarative = "package.declarative", Caller;
    /// The package is built for another architecture than this machine.
    PackageArchitecture = "package.architecture", Caller;
    /// The native entry is not a 64-bit little-endian Linux ELF program.
    PackageNativeFormat = "package.native_format", Module;
    /// The native entry is built for another architecture than the manifest says.
    PackageNativeMachine = "package.native_machine", Module;
    /// The program loader that the native entry asks for is not in a system folder of this machine nor in the package.
    PackageNativeLoader = "package.native_loader", Host;
}
