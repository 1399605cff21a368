{{/* The pod of a service or worker. */}}

{{/* root, workload */}}
{{- define "signalbox.workloadPod" -}}
{{- include "signalbox.refuseWorkload" . -}}
{{- $workload := .workload -}}
{{- $parts := dict "root" .root "component" $workload.component "options" $workload "user" 1000 -}}
{{- $_ := set $parts "container" (include "signalbox.workloadContainer" .) -}}
{{- $_ := set $parts "volumes" (include "signalbox.volumes" .) -}}
{{- /* By it the operator finds the pods that follow a file of broker connections. */ -}}
{{- if include "signalbox.environmentFileSecret" . -}}
{{- $_ := set $parts "labels" (dict "signalbox.dev/brokers" "followed") -}}
{{- end -}}
{{- /* The file of sources is read at the start: a change restarts the pods. */ -}}
{{- with $workload.sources -}}
{{- $_ := set $parts "annotations" (dict "checksum/sources" (sha256sum .)) -}}
{{- end -}}
{{- if include "signalbox.checksTokens" $workload -}}
{{- $_ := set $parts "token" true -}}
{{- end -}}
{{- if eq $workload.kind "CronJob" -}}
{{- $_ := set $parts "restartPolicy" "Never" -}}
{{- else -}}
{{- $_ := set $parts "isSpread" true -}}
{{- end -}}
{{ include "signalbox.pod" $parts }}
{{- end -}}

{{/* Whether a workload asks the API server about tokens of ServiceAccounts; 'true' or empty. The argument is the workload */}}
{{- define "signalbox.checksTokens" -}}
{{- if and (eq .component "secrets") (eq (get (.settings | default dict) "Secrets__ServiceAccounts" | toString | trim | lower) "on") -}}
true
{{- end -}}
{{- end -}}

{{/* root, workload */}}
{{- define "signalbox.workloadContainer" -}}
{{- $workload := .workload -}}
{{- $parts := dict "root" .root "name" $workload.component "options" $workload "path" $workload.path "pullPolicy" ($workload.image.pullPolicy | default .root.Values.image.pullPolicy) -}}
{{- $_ := set $parts "image" (include "signalbox.imageOf" (dict "root" .root "own" $workload.image)) -}}
{{- $_ := set $parts "run" (printf "args: %s" (toJson $workload.args)) -}}
{{- $_ := set $parts "env" (include "signalbox.environment" .) -}}
{{- $_ := set $parts "settings" (keys $workload.settings) -}}
{{- $_ := set $parts "fixed" (list "PORT" "METRICS_PORT") -}}
{{- $_ := set $parts "helpers" (list "DATABASE_PASSWORD" "BROKER_PASSWORD" "RABBITMQ_PASSWORD" "REDIS_PASSWORD") -}}
{{- $_ := set $parts "volumeMounts" (include "signalbox.volumeMounts" .) -}}
{{- $ports := list (dict "name" "metrics" "containerPort" 9090 "protocol" "TCP") -}}
{{- if not $workload.isWorker -}}
{{- $ports = prepend $ports (dict "name" "http" "containerPort" 8080 "protocol" "TCP") -}}
{{- end -}}
{{- if dig "smtp" "enabled" false $workload -}}
{{- $ports = append $ports (dict "name" "smtp" "containerPort" 2525 "protocol" "TCP") -}}
{{- end -}}
{{- $_ := set $parts "ports" (toYaml $ports) -}}
{{- if ne $workload.kind "CronJob" -}}
{{- $_ := set $parts "probes" (include "signalbox.healthProbes" (dict "port" (ternary "metrics" "http" $workload.isWorker)) | fromJson) -}}
{{- $_ := set $parts "lifecycle" (dict "preStop" (dict "sleep" (dict "seconds" $workload.preStopSeconds))) -}}
{{- end -}}
{{ include "signalbox.container" $parts }}
{{- end -}}
