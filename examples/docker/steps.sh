#!/usr/bin/env bash
# Runs the steps of the Dockerfile without Docker: builds the program, brings ONNX Runtime, and samples
# as a user without rights where that can be. With the folder of a system's root, such as debootstrap's,
# the result goes into it, and samples there on a root that is read-only, without a network:
#   sudo examples/docker/steps.sh /srv/bookworm
set -euo pipefail
root=${1:-}
root=${root:+$(realpath "$root")}
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
chmod 755 "$out"
CGO_ENABLED=1 go build -trimpath -ldflags='-s -w' -o "$out/bin/mdmgen" ./cmd/mdmgen
MDMGEN_RUNTIME='' MDMGEN_CACHE="$out/cache" "$out/bin/mdmgen" runtime install
mkdir "$out/lib" && mv "$out"/cache/runtime/onnxruntime-* "$out/lib/mdmgen"
if [ -n "$root" ]; then
	rm -rf "$out/cache"
	cp -r "$out/." "$root/usr/local/"
	mkdir -p "$root/data" && chown 65532:65532 "$root/data"
	export root
	unshare --mount --net bash -euc '
		mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
		mount -t tmpfs -o mode=0777 tmpfs "$root/data"
		mount -t proc proc "$root/proc"
		chroot --userspec 65532:65532 "$root" /usr/bin/env -i HOME=/data MDMGEN_CACHE=/data/cache \
			PATH=/usr/local/bin:/usr/bin:/bin mdmgen generate --length 8 --seed 1'
	exit
fi
as=()
if [ "$(id -u)" = 0 ]; then as=(setpriv --reuid 65532 --regid 65532 --clear-groups); fi
"${as[@]}" env -i HOME=/nonexistent PATH="$out/bin:/usr/bin:/bin" MDMGEN_CACHE="$out/none" \
	mdmgen generate --length 8 --seed 1
