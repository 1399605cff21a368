{{/* The restricted Pod Security Standard, for our own pods and the servers'. */}}

{{/* The user's number */}}
{{- define "signalbox.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "signalbox.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* kube-score's findings that are left, each with its reason:
     container-image-pull-policy: `Always` asks the registry at every start of a pod; tags here are not moved.
     container-security-context-user-group-id: 1000 and 999 are the users of the images, and data on volumes belongs to them.
     container-resources: no CPU limit, which slows a pod down beside an idle core; requests and memory limits are there.
     deployment-has-host-podantiaffinity, statefulset-…: topology spread constraints do it, and a single node is enough.
     deployment-replicas: one pod by default; a small installation is one, and `replicas` makes it more. */}}
{{- define "signalbox.score" -}}
kube-score/ignore: container-image-pull-policy,container-security-context-user-group-id,container-resources,deployment-has-host-podantiaffinity,statefulset-has-host-podantiaffinity,deployment-replicas
{{- end -}}
