"""The smallest virtual machine monitor: a guest of a few instructions, started through /dev/kvm.

A demonstration for tools/take_apart.py, for x86-64. The guest has one page of code. It writes a greeting to the port
of a serial line, a letter at a time, and halts. Each letter stops the guest and comes out here, where a real monitor
would have a device. Numbers are those of Linux's <linux/kvm.h>.
"""

import ctypes
import mmap
import os
import struct
from fcntl import ioctl

GET_API_VERSION, CREATE_VM, GET_VCPU_MMAP_SIZE, CREATE_VCPU, RUN = 0xAE00, 0xAE01, 0xAE04, 0xAE41, 0xAE80
SET_USER_MEMORY_REGION, SET_REGS, GET_SREGS, SET_SREGS = 0x4020AE46, 0x4090AE82, 0x8138AE83, 0x4138AE84
EXIT_IO, EXIT_HLT = 2, 5

GREETING = b"hello"
START = 0x1000
MEMORY = 0x10000
# mov dx, 0x3f8; then for each letter: mov al, letter; out dx, al; at last: hlt
CODE = b"\xba\xf8\x03" + b"".join(bytes([0xB0, letter, 0xEE]) for letter in GREETING) + b"\xf4"


def main() -> None:
    """Build the machine, run it, and answer what comes out until it halts."""
    kvm = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    print("monitor: KVM interface version", ioctl(kvm, GET_API_VERSION, 0))

    machine = ioctl(kvm, CREATE_VM, 0)
    print("monitor: a machine is a descriptor:", os.readlink(f"/proc/self/fd/{machine}"))

    memory = mmap.mmap(-1, MEMORY)
    memory[START : START + len(CODE)] = CODE
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    ioctl(machine, SET_USER_MEMORY_REGION, struct.pack("=IIQQQ", 0, 0, 0, MEMORY, address))
    print("monitor: its memory is", MEMORY // 1024, "KiB of mine")

    processor = ioctl(machine, CREATE_VCPU, 0)
    print("monitor: a processor is a descriptor:", os.readlink(f"/proc/self/fd/{processor}"))
    state = mmap.mmap(processor, ioctl(kvm, GET_VCPU_MMAP_SIZE, 0))
    segments = bytearray(312)
    ioctl(processor, GET_SREGS, segments)
    segments[0:8] = bytes(8)  # the code segment's base
    segments[12:14] = bytes(2)  # and its selector
    ioctl(processor, SET_SREGS, bytes(segments))
    ioctl(processor, SET_REGS, struct.pack("=18Q", *[0] * 16, START, 2))

    while True:
        ioctl(processor, RUN, 0)
        (reason,) = struct.unpack_from("=I", state, 8)
        if reason == EXIT_IO:
            _, _, port, _, offset = struct.unpack_from("=BBHIQ", state, 32)
            print(f"guest:   wrote {chr(state[offset])} to port {port:#x}")
        elif reason == EXIT_HLT:
            print("guest:   halted")
            return
        else:
            raise SystemExit(f"monitor: the guest stopped for reason {reason}, which I have no answer to")


if __name__ == "__main__":
    main()
