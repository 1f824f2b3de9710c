//! The shape of the generated list of codes.

/// Writes the enum of codes from lines of `Variant = "area.name", Blame, "what to do";`.
macro_rules! code_table {
    ($($(#[doc = $meaning:literal])+ $variant:ident = $text:literal, $blame:ident, $remedy:literal;)+) => {
        /// What went wrong: a stable, dotted code of `conformance/errors.json`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $meaning])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of `conformance/errors.json`.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The code as it stands in `conformance/errors.json`, such as `frame.too_large`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $text,)+
                }
            }

            /// Who has to change something, as a rule. A [`Violation`](crate::Violation) may say otherwise.
            pub const fn blame(self) -> crate::Blame {
                match self {
                    $(Code::$variant => crate::Blame::$blame,)+
                }
            }

            /// What to do about it, in one line of plain English.
            pub const fn remedy(self) -> &'static str {
                match self {
                    $(Code::$variant => $remedy,)+
                }
            }

            /// What the code means, in one line of plain English.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Code::$variant => concat!($($meaning),+).trim_ascii(),)+
                }
            }
        }

        impl std::str::FromStr for Code {
            type Err = UnknownCode;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Code::$variant),)+
                    _ => Err(UnknownCode),
                }
            }
        }

        impl std::fmt::Display for Code {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.as_str())
            }
        }

        impl serde::Serialize for Code {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        /// The text is no code of this version.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct UnknownCode;

        impl std::fmt::Display for UnknownCode {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("not a code of this version")
            }
        }

        impl std::error::Error for UnknownCode {}
    };
}

pub(crate) use code_table;
