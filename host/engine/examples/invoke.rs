//! Runs one action of a package folder: `invoke FOLDER ACTION PARAMETERS TARGET…`, and prints the outcome as JSON.

use modberth_host::{Host, Invocation, Module};
use modberth_package::Folder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const USAGE: &str = "usage: invoke FOLDER ACTION PARAMETERS TARGET…";
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or(USAGE)?;
    let mut arguments = arguments
        .map(|word| word.into_string().map_err(|_| USAGE))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
    let (Some(action), Some(parameters)) = (arguments.next(), arguments.next()) else {
        return Err(USAGE.into());
    };
    let module = Module::from(Folder::open(folder.as_ref())?);
    let host = Host::builder().build()?;
    let invocation = Invocation::new(module, action).parameters(parameters).targets(arguments);
    println!("{}", host.invoke(invocation).wait().to_json());
    Ok(())
}
