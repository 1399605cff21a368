{{/* A Job without hooks, named by the digest of its spec: a changed one is a new one, an equal one is left alone by
     Helm, by kubectl apply, and by everything else that compares. */}}

{{/* root, component, options, spec (text) */}}
{{- define "signalbox.job" -}}
{{- $name := include "signalbox.componentName" (dict "root" .root "component" (printf "%s-%s" .component (sha256sum .spec | trunc 8))) -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "signalbox.metadata" (dict "root" .root "component" .component "name" $name "annotations" .options.annotations) | nindent 2 }}
spec:
  {{- .spec | nindent 2 }}
{{- end -}}

{{/* The options of Jobs and of the pod of `helm test`, as JSON. They inherit scheduling, resources and security from `defaults`, no sidecar, which would
     outlive them, and no variable, which belongs to a service. root, own */}}
{{- define "signalbox.jobOptions" -}}
{{- $usual := pick .root.Values.defaults "resources" "podSecurityContext" "securityContext" "nodeSelector" "tolerations" "affinity" "priorityClassName"
  "runtimeClassName" "hostAliases" "dnsPolicy" "dnsConfig" -}}
{{- mergeOverwrite (deepCopy $usual) (deepCopy (.own | default dict)) | toJson -}}
{{- end -}}

{{/* The spec of a Job of one container of our image. root, component, options, args, image; optional: env, volumes, volumeMounts (texts), token */}}
{{- define "signalbox.jobSpec" -}}
{{- $parts := dict "name" .component "user" 1000 "restartPolicy" "OnFailure" "path" (printf "jobs.%s" .component) -}}
{{- $_ := set $parts "pullPolicy" .root.Values.image.pullPolicy -}}
{{- $_ := set $parts "env" (printf "%s\n%s" (.env | default "") (include "signalbox.trustEnvironment" .root)) -}}
{{- $_ := set $parts "run" (printf "args: %s" (toJson .args)) -}}
{{- $container := include "signalbox.container" (merge $parts .) -}}
# It waits for servers and tries again; days of it are no reason to give up.
backoffLimit: {{ .options.backoffLimit | default 1000 | int }}
{{- with .options.activeDeadlineSeconds }}
activeDeadlineSeconds: {{ int . }}
{{- end }}
template:
  {{- include "signalbox.pod" (merge (dict "container" $container) (omit $parts "name") .) | nindent 2 }}
{{- end -}}

{{/* Services by their image, as JSON: a Job of each image looks after the services that run it. An older one would not know what a newer one needs. */}}
{{- define "signalbox.servicesByImage" -}}
{{- $groups := dict -}}
{{- range $name, $service := include "signalbox.services" . | fromJson -}}
{{- $image := include "signalbox.imageOf" (dict "root" $ "own" $service.image) -}}
{{- $_ := set $groups $image (append (get $groups $image | default list) $name) -}}
{{- end -}}
{{ toJson $groups }}
{{- end -}}
