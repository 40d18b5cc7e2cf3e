//! Namespaces of network, mounts and processes, and a pair of interfaces that joins them to the host.

use std::io;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::Unavailable;

/// Networks that can be told apart: 10.213.0.0/16 in pieces of four addresses.
const NETWORKS: u32 = 1 << 14;

/// Folders of the host that servers write to. In the namespace each is empty and its own.
const PRIVATE: [&str; 3] = ["/run", "/var/lib/nfs", "/var/lib/ceph"];

/// Namespaces, which live as long as the thread in them: a program started from there is in them.
///
/// The first process of a namespace is its init: when it ends the kernel ends all others, also those that another user
/// runs or that left their parents. It ends with the thread, and so with this process, however that ends.
#[derive(Debug)]
pub(crate) struct Namespace {
    network: u32,
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// A program to start, and where to hand it over.
type Order = (Command, Sender<io::Result<Child>>);

impl Namespace {
    /// Makes a namespace. Needs root and `ip`.
    pub(crate) fn new() -> Result<Self, Unavailable> {
        if !rustix::process::geteuid().is_root() {
            return Err(Unavailable::NotRoot);
        }
        require("ip", "iproute2")?;
        require("mount", "mount")?;
        let (orders, received) = channel();
        let (entered, has_entered) = channel();
        let thread = thread::Builder::new()
            .name("namespace".to_owned())
            .spawn(move || {
                let (network, mut init) = match enter() {
                    Ok((network, init)) => (Ok(network), Some(init)),
                    Err(why) => (Err(why), None),
                };
                // Without a network nobody has anything to order.
                if entered.send(network).is_ok() {
                    serve(&received);
                }
                if let Some(init) = &mut init {
                    let _ = init.kill();
                    let _ = init.wait();
                }
            })
            .map_err(|error| Unavailable::system("start a thread", error))?;
        let network = has_entered.recv().unwrap_or_else(|gone| Err(ended(gone)))?;
        let namespace = Self { network, orders: Some(orders), thread: Some(thread) };
        namespace.join()?;
        Ok(namespace)
    }

    /// Gives the host's end its address.
    fn join(&self) -> Result<(), Unavailable> {
        let (interface, address) = (self.interface(), address(self.network, 1));
        ip(&["addr", "add", &format!("{address}/30"), "dev", &interface])?;
        ip(&["link", "set", &interface, "up"])
    }

    /// The host's end of the pair.
    pub(crate) fn interface(&self) -> String {
        interface(self.network)
    }

    /// The address within, as the host reaches it.
    pub(crate) fn address(&self) -> Ipv4Addr {
        address(self.network, 2)
    }

    /// Starts a program within.
    pub(crate) fn spawn(&self, command: Command) -> io::Result<Child> {
        let (done, is_done) = channel();
        let gone = || io::Error::other("the namespace's thread has ended");
        let orders = self.orders.as_ref().ok_or_else(gone)?;
        orders.send((command, done)).map_err(|_| gone())?;
        is_done.recv().map_err(|_| gone())?
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // One end takes the other with it. Without this the kernel would do so some time after the last process.
        let _ = ip(&["link", "del", &self.interface()]);
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether a program is installed.
pub(crate) fn require(program: &'static str, package: &'static str) -> Result<(), Unavailable> {
    if is_there(program) { Ok(()) } else { Err(Unavailable::Missing { program, package }) }
}

/// Whether a program is installed.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn serve(orders: &Receiver<Order>) {
    while let Ok((mut command, done)) = orders.recv() {
        if let Err(unwanted) = done.send(command.spawn())
            && let Ok(mut child) = unwanted.0
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Moves this thread into namespaces of its own. Returns the number of the network, and the init.
fn enter() -> Result<(u32, Child), Unavailable> {
    unshare(UnshareFlags::NEWNET | UnshareFlags::NEWNS)?;
    // unshare(2): mounts made here would otherwise appear on the host as well.
    call("mount", &["--make-rprivate", "/"])?;
    for folder in PRIVATE.into_iter().filter(|folder| Path::new(folder).is_dir()) {
        call("mount", &["-t", "tmpfs", "tmpfs", folder])?;
    }
    ip(&["link", "set", "lo", "up"])?;
    let network = take_network()?;
    let address = address(network, 2);
    ip(&["addr", "add", &format!("{address}/30"), "dev", "eth0"])?;
    ip(&["link", "set", "eth0", "up"])?;
    // Replies go back through the pair, whatever address the client has.
    ip(&["route", "add", "default", "via", &self::address(network, 1).to_string()])?;
    // Last: the next process is the first of the namespace.
    unshare(UnshareFlags::NEWPID)?;
    let init = start_init()?;
    // By another's numbers a thread does not find itself: Ceph, which names its threads, gives up.
    call("mount", &["-t", "proc", "proc", "/proc"])?;
    Ok((network, init))
}

fn unshare(what: UnshareFlags) -> Result<(), Unavailable> {
    // SAFETY: descriptors stay shared; only FILES would part them.
    unsafe { unshare_unsafe(what) }.map_err(|error| Unavailable::system("make a namespace", error))
}

fn start_init() -> Result<Child, Unavailable> {
    let mut command = Command::new("sleep");
    command.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let end_with_parent = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(end_with_parent) };
    // Not in the test's group: Ctrl-C there would end it before the servers.
    command.process_group(0).spawn().map_err(|error| Unavailable::system("run sleep", error))
}

/// Makes a pair of interfaces. A name that is taken is another's network: the kernel decides who was first.
fn take_network() -> Result<u32, Unavailable> {
    let host = std::process::id().to_string();
    // Test binaries that start together have process numbers side by side; this puts them far apart.
    let first = std::process::id().wrapping_mul(97);
    for turn in 0..NETWORKS {
        let network = first.wrapping_add(turn) % NETWORKS;
        let name = interface(network);
        let pair = ["link", "add", "eth0", "type", "veth", "peer", "name", &name, "netns", &host];
        let output = output("ip", &pair)?;
        if output.status.success() {
            return Ok(network);
        }
        if !String::from_utf8_lossy(&output.stderr).contains("File exists") {
            return Err(failed("ip", &output));
        }
    }
    Err(Unavailable::system("find a free network", io::Error::from(io::ErrorKind::AddrInUse)))
}

fn interface(network: u32) -> String {
    format!("fl-srv-{network}")
}

fn address(network: u32, end: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from_be_bytes([10, 213, 0, 0]) + network * 4 + end)
}

fn ip(args: &[&str]) -> Result<(), Unavailable> {
    call("ip", args)
}

fn call(program: &str, args: &[&str]) -> Result<(), Unavailable> {
    let output = output(program, args)?;
    if output.status.success() { Ok(()) } else { Err(failed(program, &output)) }
}

fn output(program: &str, args: &[&str]) -> Result<Output, Unavailable> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    output.map_err(|error| Unavailable::system(format!("run {program} {}", args.join(" ")), error))
}

fn failed(program: &str, output: &Output) -> Unavailable {
    Unavailable::Failed {
        program: program.to_owned(),
        how: output.status.to_string(),
        said: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
    }
}

fn ended(gone: std::sync::mpsc::RecvError) -> Unavailable {
    Unavailable::system("make a namespace", io::Error::other(gone))
}
