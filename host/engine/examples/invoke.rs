//! Runs one action of a package folder: `invoke FOLDER ACTION PARAMETERS TARGET…`, and prints the outcome as JSON.

use modberth_host::{Host, Invocation, Module};
use modberth_package::Folder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(action), Some(parameters)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: invoke FOLDER ACTION PARAMETERS TARGET…".into());
    };
    let module = Module::from(Folder::open(folder.as_ref())?);
    let host = Host::builder().build()?;
    let invocation = Invocation::new(module, action).parameters(parameters).targets(arguments);
    println!("{}", host.invoke(invocation).wait().to_json());
    Ok(())
}
