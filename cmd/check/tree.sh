# Makes a Debian 13 with RabbitMQ 4 in the folder $1 from the Debian source $2. It runs as root in a
# mount namespace of its own, so that nothing stays mounted, however it ends.
half=$1.half
rm -rf --one-file-system "$half"

# debootstrap does not read apt's settings, and sudo takes the environment away.
proxies=$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)
eval "$proxies"
for name in http_proxy https_proxy; do
	case $proxies in *$name=*) export $name ;; esac
done
debootstrap --variant=minbase --include=ca-certificates trixie "$half" "$2"

# The tree reaches the source as this machine does.
apt-config dump Acquire >"$half/etc/apt/apt.conf.d/00machine"
for file in resolv.conf apt/auth.conf apt/auth.conf.d ssl/certs/ca-certificates.crt; do
	[ ! -e "/etc/$file" ] || cp -rLT "/etc/$file" "$half/etc/$file"
done

# No package may start its service.
printf '#!/bin/sh\nexit 101\n' >"$half/usr/sbin/policy-rc.d"
chmod 755 "$half/usr/sbin/policy-rc.d"
mount -t proc proc "$half/proc"
chroot "$half" apt-get update
chroot "$half" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends rabbitmq-server
chroot "$half" apt-get clean
umount "$half/proc"
[ -e "$half/etc/hosts" ] || printf '127.0.0.1 localhost\n' >"$half/etc/hosts"
rm -rf --one-file-system "$1"
mv "$half" "$1"
