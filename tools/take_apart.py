"""Run the commands that the page /models/ shows, and write them with their outputs to ladder/two_models_outputs.yaml.

Usage, as root on x86-64 Linux: python tools/take_apart.py --guest-kernel FILE
It needs Debian's bubblewrap, util-linux, procps, iproute2, curl, cpio, busybox-static and qemu-system-x86, and a kernel
package for the guest, as a file: apt-get download linux-image-6.1.0-57-cloud-amd64, and --guest-kernel with its path.

What the outputs are, and are not:
- Each is what its command wrote, standard output and standard error together, in an empty environment and in /tmp,
  which is a fresh file system in memory. Nothing is added; what is cut is marked with "…".
- In the guest the first process is a script of ours, which prints each command after a "#" and then runs it.
- The script runs in mount, UTS and IPC namespaces of its own, which the page calls the outside: so the host name is
  "host", no message queue but ours is there, and no file of this machine is in /tmp.
- Numbers that change from run to run are replaced: process ids by 1001, the ids of namespaces by "host" (those of the
  script) and "new", hardware addresses and the times of a kernel's log by "…". A second run on the same machine gives
  the same file, but for `made_on`.
"""

import argparse
import datetime
import os
import platform
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
OUTPUTS = CHECKOUT / "ladder" / "two_models_outputs.yaml"
HELPERS = ("landlocked.py", "smallest_vm.py")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")

DOCKERS_14 = (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap "
    "net_bind_service sys_chroot kill audit_write"
)
LEFT_BY_DOCKER = ",".join(["-all", *(f"+{name}" for name in DOCKERS_14.split())]).replace(",+mknod", ",\\\n+mknod")
ONLY_USR = "--ro-bind /usr /usr --symlink usr/bin /bin \\\n  --symlink usr/lib /lib --symlink usr/lib64 /lib64"
QEMU = (
    "qemu-system-x86_64 -M microvm,accel=tcg -m 256 -nodefaults -no-reboot \\\n"
    "  -nographic -serial stdio -kernel vmlinuz \\\n"
    "  -append 'console=ttyS0 loglevel=0 panic=-1 tsc_early_khz=2000000' \\\n"
)


@dataclass(frozen=True)
class Run:
    """A command that the page shows. `user` is root or nobody; `where` says which side of the wall it looks from."""

    key: str
    where: str
    command: str
    user: str = "root"


RUNS = [
    # An ordinary process.
    Run("process-views", "outside", f"cd /proc/self/ns; readlink {' '.join(NAMESPACES)}", "nobody"),
    Run("process-rights", "outside", "grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status", "nobody"),
    # Mount namespace.
    Run("mount-outside", "outside", "head -n 1 /etc/passwd"),
    Run("mount-copy", "inside", "unshare --mount head -n 1 /etc/passwd"),
    Run("mount-inside", "inside", "unshare --mount sh -c 'mount -t tmpfs none /etc; head -n 1 /etc/passwd'"),
    Run("mount-after", "outside", "head -n 1 /etc/passwd"),
    # PID namespace. The script has started a program named neighbour.
    Run("pid-outside", "outside", "ps -C neighbour -o pid,comm"),
    Run("pid-inside", "inside", "unshare --pid --fork --mount-proc sh -c 'echo I am $$; ps -e -o pid,comm'"),
    Run("pid-old-proc", "inside", "unshare --pid --fork ps -C neighbour -o pid,comm"),
    # Network namespace. The script serves engine.sock.
    Run("network-outside", "outside", "ip -brief link"),
    Run("network-inside", "inside", "unshare --net ip -brief link"),
    Run("network-unreachable", "inside", "unshare --net ip route get 192.0.2.1"),
    Run("network-socket", "inside", "unshare --net curl --silent --unix-socket engine.sock http://engine/"),
    # User namespace.
    Run("user-outside", "outside", "id -u; grep CapEff /proc/self/status", "nobody"),
    Run(
        "user-inside",
        "inside",
        "unshare --user --map-root-user sh -c 'id -u; grep CapEff /proc/self/status; cat /proc/self/uid_map'",
        "nobody",
    ),
    Run(
        "user-powerless",
        "inside",
        "unshare --user --map-root-user sh -c 'head -n 1 /etc/shadow; mknod disk b 8 0'",
        "nobody",
    ),
    Run(
        "user-powers",
        "inside",
        "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /srv; findmnt -n -o FSTYPE /srv'",
        "nobody",
    ),
    # IPC namespace. The script has made a message queue.
    Run("ipc-outside", "outside", "ipcs --queues --summary"),
    Run("ipc-inside", "inside", "unshare --ipc ipcs --queues --summary"),
    # UTS namespace.
    Run("uts-inside", "inside", "unshare --uts sh -c 'hostname box; hostname; uname -r'"),
    Run("uts-outside", "outside", "hostname; uname -r"),
    # Cgroup namespace.
    Run(
        "cgroup-view-outside",
        "outside",
        "echo $$ > /sys/fs/cgroup/unified/shop/box/cgroup.procs; grep ^0: /proc/self/cgroup",
    ),
    Run(
        "cgroup-view-inside",
        "inside",
        "echo $$ > /sys/fs/cgroup/unified/shop/box/cgroup.procs; unshare --cgroup grep ^0: /proc/self/cgroup",
    ),
    # Control groups.
    Run("pids-before", "outside", "cat /sys/fs/cgroup/pids/box/pids.max"),
    Run(
        "pids-limit",
        "inside",
        "cd /sys/fs/cgroup/pids/box; echo 4 > pids.max; echo $$ > cgroup.procs\n"
        "for n in 1 2 3 4 5 6; do sleep 1 & done; echo never reached",
    ),
    # Capabilities.
    Run("capabilities-before", "outside", "id -u; grep CapEff /proc/self/status"),
    Run(
        "capabilities-after",
        "inside",
        f"setpriv --bounding-set={LEFT_BY_DOCKER} \\\n"
        "  sh -c 'id -u; grep CapEff /proc/self/status; mount -t tmpfs none /srv'",
    ),
    # Seccomp. The script has written a filter that answers mkdir with EPERM and lets all else through.
    Run("seccomp-before", "outside", "mkdir one && ls -d one", "nobody"),
    Run(
        "seccomp-after",
        "inside",
        "bwrap --bind / / --seccomp 9 sh -c 'grep Seccomp: /proc/self/status; mkdir two' 9< no-mkdir.bpf",
        "nobody",
    ),
    # A security module.
    Run("lsm-list", "outside", "cat /sys/kernel/security/lsm"),
    Run("lsm-before", "outside", "id -u; head -n 1 /etc/shadow | cut -c 1-5"),
    Run("lsm-after", "inside", "python3 landlocked.py /usr sh -c 'id -u; head -n 1 /etc/shadow'"),
    # A root file system.
    Run("root-outside", "outside", "ls -d /bin /etc/passwd /home /lib /lib64 /proc /usr", "nobody"),
    Run("root-inside", "inside", f"bwrap {ONLY_USR} \\\n  sh -c 'ls /; ls /etc/passwd'", "nobody"),
    Run(
        "root-layers",
        "inside",
        "mkdir image changes work root; echo as built > image/file\n"
        "unshare --mount sh -c 'mount -t overlay none -o lowerdir=image,upperdir=changes,workdir=work root\n"
        "  echo changed > root/file; cat root/file'; cat image/file",
    ),
    # What is left shared.
    Run("kernel-outside", "outside", "uname -srm", "nobody"),
    Run(
        "kernel-inside",
        "inside",
        f"bwrap --unshare-all --hostname box --proc /proc \\\n  {ONLY_USR} --seccomp 9 \\\n"
        "  sh -c 'hostname; ls /; ps -e -o comm=; uname -srm' 9< no-mkdir.bpf",
        "nobody",
    ),
    # A microVM.
    Run("kvm-processor", "host", "grep -o -w -m 1 -E 'vmx|svm|hypervisor' /proc/cpuinfo"),
    Run("kvm-device", "host", "stat --format '%F %A' /dev/kvm"),
    Run("vmm", "host", "python3 smallest_vm.py"),
    Run("guest-host", "host", "uname -r"),
    Run("guest-kernel", "guest", f"{QEMU}  -initrd ask-the-kernel.cpio.gz", "nobody"),
    Run(
        "guest-virtio",
        "guest",
        f"{QEMU}  -initrd ask-for-devices.cpio.gz \\\n"
        "  -drive id=disk,file=disk.img,format=raw,if=none -device virtio-blk-device,drive=disk",
        "nobody",
    ),
    Run(
        "second-wall",
        "jail",
        f"bwrap --unshare-all --proc /proc \\\n  {ONLY_USR} \\\n"
        "  --dev-bind /dev/kvm /dev/kvm --ro-bind smallest_vm.py /smallest_vm.py --seccomp 9 \\\n"
        "  sh -c 'ls -d /* /dev/*; python3 /smallest_vm.py | tail -n 2' 9< no-mkdir.bpf",
        "kvm",
    ),
]

ASK_THE_KERNEL = """
echo '# uname -r'; busybox uname -r
echo '# ps'; busybox ps -o pid,comm | busybox head -n 3; echo …
"""
ASK_FOR_DEVICES = """
for module in virtio_ring virtio virtio_mmio virtio_blk; do busybox insmod /$module.ko; done
echo '# ls /sys/bus/virtio/drivers/virtio_blk'; busybox ls /sys/bus/virtio/drivers/virtio_blk | busybox grep virtio
echo '# head -n 1 /dev/vda'; busybox head -n 1 /dev/vda
"""
GUEST_MODULES = ("virtio/virtio_ring", "virtio/virtio", "virtio/virtio_mmio", "block/virtio_blk")


# The version of the kernel, without the name that whoever built it gave it.
KERNEL = re.match(r"[\d.]+", platform.release())[0]


def main() -> None:
    """Enter namespaces of our own, run everything, write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guest-kernel", type=Path, required=True, help="a Debian package linux-image-….deb")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if os.geteuid() or platform.machine() != "x86_64":
        sys.exit("take_apart.py: needs root, on x86-64")
    if not arguments.inside:
        own = ["unshare", "--mount", "--uts", "--ipc", sys.executable, *sys.argv, "--inside"]
        OUTPUTS.write_bytes(subprocess.run(own, check=True, stdout=subprocess.PIPE).stdout)
        return
    sys.path.insert(0, str(CHECKOUT))
    from sandboxicon.content.files import dump

    files = prepare_files(arguments.guest_kernel)
    socket.sethostname("host")
    quietly("mount -t securityfs none /sys/kernel/security; mount -t tmpfs none /tmp; chmod 1777 /tmp")
    os.chdir("/tmp")  # noqa: S108
    for name, content in files.items():
        Path(name).write_bytes(content)
    Path("disk.img").chmod(0o666)
    quietly("cp /bin/sleep neighbour; chmod 755 neighbour; ipcmk --queue")
    groups = [Path("/sys/fs/cgroup") / group for group in ("unified/shop", "unified/shop/box", "pids/box")]
    for group in groups:
        group.mkdir()
    neighbour = subprocess.Popen(["/tmp/neighbour", "600"], env={})  # noqa: S108
    serve("engine.sock")
    try:
        runs = {run.key: output_of(run) for run in RUNS}
    finally:
        neighbour.kill()
        neighbour.wait()
        for group in reversed(groups):
            group.rmdir()
    document = {
        "made_on": datetime.date.today(),
        "kernel": KERNEL,
        "tools": versions(),
        "runs": runs,
    }
    sys.stdout.buffer.write(dump(document))


def output_of(run: Run) -> dict[str, Any]:
    """The command, what it wrote, and its exit code."""
    prefix = {
        "root": [],
        "nobody": NOBODY,
        "kvm": ["setpriv", "--reuid=65534", "--regid=kvm", "--clear-groups"],
    }[run.user]
    done = subprocess.run(
        [*prefix, "sh", "-c", run.command],
        env={"PATH": PATH, "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    output = normalised(done.stdout.decode())
    return {
        "user": "root" if run.user == "root" else "nobody",
        "where": run.where,
        "command": run.command,
        "output": output,
        "exit_code": done.returncode,
    }


def normalised(text: str) -> str:
    """The output without what changes from run to run (see the docstring above)."""
    ours = {name: os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES}
    text = re.sub(
        r"\b([a-z]+):\[\d+\]", lambda found: f"{found[1]}:[{'host' if found[0] == ours.get(found[1]) else 'new'}]", text
    )
    text = text.replace(platform.release(), KERNEL)
    text = re.sub(r"\b(?!00:00:00)[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", "…", text)
    text = re.sub(r"^ *\d+(?= neighbour$)", lambda found: f"{1001:>{len(found[0])}}", text, flags=re.MULTILINE)
    text = re.sub(r"^\[ *\d+\.\d+\] ", "[…] ", text, flags=re.MULTILINE)
    lines = (line.rstrip() for line in text.replace("\r", "").splitlines())
    return "\n".join(lines).strip("\n")


def prepare_files(package: Path) -> dict[str, bytes]:
    """The files that the commands name, except what they make themselves."""
    files = {name: (CHECKOUT / "tools" / name).read_bytes() for name in HELPERS}
    files["no-mkdir.bpf"] = no_mkdir()
    files["disk.img"] = b"written by the host into a file\n".ljust(1 << 20, b"\0")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/dpkg", "-x", package, folder], check=True)
        (kernel,) = Path(folder, "boot").glob("vmlinuz-*")
        files["vmlinuz"] = kernel.read_bytes()
        (drivers,) = Path(folder).glob("lib/modules/*/kernel/drivers")
        modules = [drivers / f"{name}.ko" for name in GUEST_MODULES]
        files["ask-the-kernel.cpio.gz"] = initramfs(ASK_THE_KERNEL, [])
        files["ask-for-devices.cpio.gz"] = initramfs(ASK_FOR_DEVICES, modules)
    return files


def initramfs(script: str, modules: list[Path]) -> bytes:
    """A root file system for the guest: busybox, modules, and `script` as its first process."""
    mounts = "busybox mount -t proc proc /proc; busybox mount -t sysfs sys /sys; busybox mount -t devtmpfs dev /dev"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("bin", "proc", "sys", "dev"):
            (root / name).mkdir()
        shutil.copy(str(shutil.which("busybox")), root / "bin" / "busybox")
        for module in modules:
            shutil.copy(module, root)
        (root / "init").write_text(f"#!/bin/busybox sh\n{mounts}\n{script}\nbusybox poweroff -f\n")
        (root / "init").chmod(0o755)
        pack = ["/bin/sh", "-c", "find . | sort | cpio -o -H newc --quiet | gzip -n"]
        packed = subprocess.run(pack, cwd=root, check=True, stdout=subprocess.PIPE)
    return packed.stdout


def no_mkdir() -> bytes:
    """A seccomp filter, as bwrap takes it: mkdir and mkdirat are answered with EPERM, all else is let through."""
    load, equal, answer = 0x20, 0x15, 0x06
    kill, eperm, allow = 0x80000000, 0x00050001, 0x7FFF0000
    x86_64, mkdir, mkdirat = 0xC000003E, 83, 258
    program = [
        (load, 0, 0, 4),  # the architecture
        (equal, 1, 0, x86_64),
        (answer, 0, 0, kill),
        (load, 0, 0, 0),  # the number of the call
        (equal, 1, 0, mkdir),
        (equal, 0, 1, mkdirat),
        (answer, 0, 0, eperm),
        (answer, 0, 0, allow),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def serve(path: str) -> None:
    """Answer each request on a UNIX socket with a greeting, as an engine outside would."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()

    def answer() -> None:
        while True:
            peer, _ = listener.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello from the engine outside\n")

    threading.Thread(target=answer, daemon=True).start()


def versions() -> dict[str, str]:
    """The versions of the programs that the commands call."""
    packages = ["bubblewrap", "util-linux", "procps", "iproute2", "curl", "qemu-system-x86", "busybox-static"]
    asked = ["dpkg-query", "--show", "--showformat=${Package} ${source:Upstream-Version}\\n", *packages]
    lines = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return dict(sorted(line.split() for line in lines))


def quietly(command: str) -> None:
    """Run a command of ours, which must succeed and says nothing worth keeping."""
    subprocess.run(["/bin/sh", "-ec", command], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
