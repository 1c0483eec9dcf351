#!/usr/bin/env bash
# Prints the Secrets that the manifests refer to, for `kubectl apply --filename -`.
#
#   deploy/k8s/secrets.sh DIRECTORY STORE_URL | kubectl apply --filename -
#
# DIRECTORY keeps the keys: they are made there by `opolyx-keys` if they are absent, so that a second run
# signs with the same ones. Keep it as secret as the cluster. STORE_URL is the Redis, `redis://…`,
# `rediss://…` or `redis+cluster://…`; leave it out where the overlay brings its own.
set -euo pipefail
umask 077

[ "$#" -ge 1 ] || { sed -n '2,8p' "$0" >&2; exit 2; }
directory=$1
store_url=${2:-}
namespace=${OPOLYX_NAMESPACE:-opolyx}
days=${OPOLYX_TOKEN_DAYS:-90}

for tool in opolyx-keys kubectl; do
    command -v "$tool" >/dev/null || {
        echo "secrets.sh: there is no $tool on the PATH; opolyx-keys comes with \`make setup\`, in .venv/bin" >&2
        exit 2
    }
done
mkdir -p "$directory"
[ -e "$directory/keys.json" ] || opolyx-keys make "$directory/keys.json" >&2

secret() { # secret NAME ARGUMENTS: print one Secret
    kubectl create secret generic "$1" --namespace "$namespace" --dry-run=client --output yaml "${@:2}"
    echo "---"
}

for service in engine progression; do
    opolyx-keys token "$directory/keys.json" --subject "s_$service" --days "$days" >"$directory/$service.token"
    secret "opolyx-$service-token" --from-file="$service=$directory/$service.token"
done
secret opolyx-signing-keys --from-file="$directory/keys.json" --from-file="$directory/keys.public.json"
secret opolyx-verification-keys --from-file="$directory/keys.public.json"
[ -z "$store_url" ] || secret opolyx-store --from-literal="url=$store_url"
