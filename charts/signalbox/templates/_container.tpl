{{/* The container of a service or worker. */}}

{{/* root, workload */}}
{{- define "signalbox.container" -}}
{{- $workload := .workload -}}
{{- $image := mergeOverwrite (deepCopy .root.Values.image) (deepCopy ($workload.image | default dict)) -}}
{{- include "signalbox.tagOverDigest" (dict "image" $image "own" $workload.image) -}}
name: {{ $workload.component }}
image: {{ include "signalbox.image" (dict "root" .root "image" $image) }}
imagePullPolicy: {{ $image.pullPolicy }}
args: {{ toJson $workload.args }}
env:
  {{- include "signalbox.environment" . | nindent 2 }}
ports:
  {{- if not $workload.isWorker }}
  - { name: http, containerPort: 8080, protocol: TCP }
  {{- end }}
  - { name: metrics, containerPort: 9090, protocol: TCP }
{{- if ne $workload.kind "CronJob" }}
{{ include "signalbox.probes" $workload | trim }}
lifecycle:
  preStop: { sleep: { seconds: {{ $workload.preStopSeconds }} } }
{{- end }}
resources:
  {{- toYaml $workload.resources | nindent 2 }}
securityContext:
  {{- include "signalbox.containerSecurity" . | nindent 2 }}
{{- with include "signalbox.volumeMounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}
