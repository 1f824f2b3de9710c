#!/bin/busybox sh
# First process of the test machine. It makes what an ordinary system has, runs every program of /vm/plan as root and then
# as an ordinary user, and powers off. Lines that begin with "@vm" are for xtask: a word, its values, the uptime in seconds.
set -u
export PATH=/usr/bin

say() {
    # A program may end inside a line.
    printf '\n@vm %s %s\n' "$*" "$(cut -d ' ' -f 1 /proc/uptime)"
}

# The kernel's first root has no parent, so nothing can be pivoted away from it; a root as every other system has it can.
if [ "${1-}" != inside ]; then
    mkdir /disk
    mount -t tmpfs -o mode=0755 machine /disk
    for entry in /*; do
        case "$entry" in
            /disk | /dev | /root | /init) ;;
            *) cp -a "$entry" /disk/ ;;
        esac
    done
    mkdir -p /disk/dev /disk/proc /disk/sys /disk/run /disk/root
    exec switch_root /disk /vm/init inside
fi

mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs -o nosuid,nodev,noexec sysfs /sys
mount -t devtmpfs -o nosuid,mode=0755 devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts -o nosuid,noexec devpts /dev/pts
mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs /dev/shm
mount -t tmpfs -o nosuid,nodev,mode=0755 tmpfs /run
# As systemd has it: events of mounts spread unless somebody takes care, and a delegated group is a border.
mount -t cgroup2 -o nosuid,nodev,noexec,nsdelegate,memory_recursiveprot cgroup2 /sys/fs/cgroup
mount --make-rshared /
ip link set lo up
hostname machine

# A group with controllers for its children holds no process itself, except the root group.
groups=/sys/fs/cgroup
mkdir "$groups/init"
echo $$ >"$groups/init/cgroup.procs"
echo "+memory +pids +cpu +io" >"$groups/cgroup.subtree_control"

# Makes group $1 with an empty group `host` in it, both delegated to user $2.
delegate() {
    mkdir "$1"
    echo "+memory +pids +cpu +io" >"$1/cgroup.subtree_control"
    mkdir "$1/host"
    for part in "$1" "$1/host"; do
        chown "$2:$2" "$part" "$part/cgroup.procs" "$part/cgroup.threads" "$part/cgroup.subtree_control"
    done
}

# Ends what lives in group $1 and removes the groups below it, innermost first.
clear_group() {
    echo 1 >"$1/cgroup.kill"
    find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null
}

# Becomes program $4 with working directory $3, in group $1, as user $2. The shell that enters the group is the one
# that becomes the program, so the program is alone there.
become() {
    cd "$3" || exit 125
    exec env -i PATH=/usr/bin MODBERTH_VM=1 RUST_BACKTRACE=0 sh -c '
        echo 0 >"$0/host/cgroup.procs" || exit 125
        user=$1
        shift
        exec su -s /bin/sh -c "exec \"\$0\" \"\$@\"" -- "$user" "$@"
    ' "$1" "$2" "$4" --color never --test-threads "$threads"
}

# Runs the program called $3 for round $1 as user $2, and tells how it ended.
run() {
    count=$((count + 1))
    group="$groups/$1-$count"
    say begin "$1" "$3"
    delegate "$group" "$2"
    rm -f /run/status
    (
        sleep "$limit"
        echo late >/run/status
        echo 1 >"$group/cgroup.kill"
    ) </dev/null >/dev/null 2>&1 3<&- &
    guard=$!
    # Through a pipe, so that no program has a terminal.
    {
        (become "$group" "$2" "$4" "$5") </dev/null 3<&-
        status=$?
        [ -e /run/status ] || echo "$status" >/run/status
        # What still lives would keep the pipe open.
        clear_group "$group"
    } 2>&1 | cat
    # Gone when it has done its work.
    kill "$guard" 2>/dev/null
    [ ! -d "$group" ] || clear_group "$group"
    say end "$1" "$3" "$(cat /run/status)"
}

say start "$(uname -r)"
if grep -q -w vm.shell /proc/cmdline; then
    delegate "$groups/tester" tester
    echo "The programs stand in /vm/plan. \`su tester\` is the ordinary user, $groups/tester is delegated to it. \`exit\` ends."
    setsid cttyhack sh
else
    limit=$(cat /vm/limit)
    threads=$(nproc)
    count=0
    for round in root user; do
        user=root
        [ "$round" = root ] || user=tester
        while IFS='	' read -r name folder program <&3; do
            run "$round" "$user" "$name" "$folder" "$program"
        done 3</vm/plan
    done
    say done
fi
sync
poweroff -f
