# The control plane of a cluster as processes of this machine: etcd, kube-apiserver and kube-controller-manager.
# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh sets run and tools.
service_cidr=10.96.0.0/16
# A cluster with nodes adds kubelet-NODE for each.
users=(admin controller-manager scheduler proxy)

# control_plane NAME ADDRESS PORT ETCD_PORT [PREFIX…]: starts each program as "PREFIX… program" and waits until it is ready
control_plane() {
  local name=$1 address=$2 port=$3 etcd_port=$4 user dir=$run/$1
  shift 4
  local client=http://$address:$etcd_port peer=http://$address:$((etcd_port + 1))
  # A Service cannot point at loopback.
  local endpoints=lease
  [ "$address" != 127.0.0.1 ] || endpoints=none
  mkdir -p "$dir/pki"
  if [ ! -s "$dir/pki/tokens.csv" ]; then credentials "$dir/pki" "$address"; fi
  for user in "${users[@]}"; do kubeconfig "$dir" "$user" "https://$address:$port"; done

  # As kubeadm sets it: without progress, the API server sends no bookmarks of kinds in which nothing happens.
  start "$name-etcd" "$@" etcd --data-dir "$dir/etcd" --unsafe-no-fsync --experimental-watch-progress-notify-interval 5s \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer"
  start "$name-kube-apiserver" "$@" kube-apiserver --etcd-servers "$client" \
    --bind-address "$address" --advertise-address "$address" --secure-port "$port" \
    --tls-cert-file "$dir/pki/apiserver.crt" --tls-private-key-file "$dir/pki/apiserver.key" \
    --service-cluster-ip-range "$service_cidr" --authorization-mode Node,RBAC --token-auth-file "$dir/pki/tokens.csv" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$dir/pki/sa.key" --service-account-signing-key-file "$dir/pki/sa.key" \
    --endpoint-reconciler-type "$endpoints" --enable-admission-plugins NodeRestriction --allow-privileged --kubelet-preferred-address-types InternalIP
  await 60 "$name-kube-apiserver" kubectl --kubeconfig "$dir/admin.kubeconfig" get --raw /readyz
  start "$name-kube-controller-manager" "$@" kube-controller-manager --kubeconfig "$dir/controller-manager.kubeconfig" \
    --service-account-private-key-file "$dir/pki/sa.key" --root-ca-file "$dir/pki/ca.crt" --use-service-account-credentials \
    --leader-elect=false --bind-address "$address"
  await 30 "$name-kube-controller-manager" kubectl --kubeconfig "$dir/admin.kubeconfig" -n default get serviceaccount default
}

# control_plane_stop NAME: stops the programs and deletes what they kept
control_plane_stop() {
  local program
  for program in kube-controller-manager kube-apiserver etcd; do stop "$1-$program"; done
  rm -rf "${run:?}/$1"
}

# gateway_api KUBECONFIG: applies the CustomResourceDefinitions of the Gateway API, which its Go module holds
gateway_api() {
  local module=sigs.k8s.io/gateway-api folder
  folder=$(cd "$tools/go/traefik" && go mod download "$module" && go list -m -f '{{.Dir}}' "$module")
  kubectl --kubeconfig "$1" apply --server-side -f "$folder/config/crd/standard" >/dev/null
  kubectl --kubeconfig "$1" wait crd --all --for condition=Established --timeout 30s >/dev/null
}

# credentials DIRECTORY ADDRESS: writes a certificate authority, the API server's certificate, the key of service accounts and a token for each user.
# tokens.csv is written last: it says that the others are complete.
credentials() {
  (
    cd "$1" || exit
    openssl genrsa -out sa.key 2048
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=signalbox-test-ca -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout apiserver.key -out apiserver.csr
    openssl x509 -req -in apiserver.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out apiserver.crt -extfile <(
      echo "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:$2,IP:10.96.0.1"
    )
    for user in "${users[@]}"; do openssl rand -hex 24 >"$user.token"; done
    {
      printf '%s,admin,admin,system:masters\n' "$(cat admin.token)"
      printf '%s,system:kube-controller-manager,controller-manager\n' "$(cat controller-manager.token)"
      printf '%s,system:kube-scheduler,scheduler\n' "$(cat scheduler.token)"
      printf '%s,system:kube-proxy,proxy,system:node-proxier\n' "$(cat proxy.token)"
      for user in "${users[@]}"; do
        if [[ $user == kubelet-* ]]; then printf '%s,system:node:%s,%s,system:nodes\n' "$(cat "$user.token")" "${user#kubelet-}" "$user"; fi
      done
    } >tokens.csv
  ) 2>/dev/null
}

# kubeconfig DIRECTORY USER URL: writes DIRECTORY/USER.kubeconfig
kubeconfig() {
  cat >"$1/$2.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: signalbox, cluster: {server: "$3", certificate-authority: $1/pki/ca.crt}}]
users: [{name: $2, user: {token: $(cat "$1/pki/$2.token")}}]
contexts: [{name: signalbox, context: {cluster: signalbox, user: $2}}]
current-context: signalbox
YAML
  chmod 600 "$1/$2.kubeconfig"
}
