{{/* The pod of a service or worker: everything but its container. */}}

{{/* root, workload */}}
{{- define "signalbox.pod" -}}
{{- include "signalbox.refuseWorkload" . -}}
{{- $names := dict "root" .root "component" .workload.component "own" .workload.podLabels -}}
metadata:
  labels:
    {{- include "signalbox.podLabels" $names | nindent 4 }}
    {{- /* By it the operator finds the pods that follow a file of broker connections. */}}
    {{- if include "signalbox.environmentFileSecret" . }}
    signalbox.dev/brokers: followed
    {{- end }}
  {{- with .workload.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "signalbox.componentName" $names }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .workload.terminationGracePeriodSeconds }}
  {{- if eq .workload.kind "CronJob" }}
  restartPolicy: Never
  {{- end }}
  securityContext:
    {{- include "signalbox.podSecurity" 1000 | nindent 4 }}
  {{- with include "signalbox.pullSecrets" .root | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - {{ include "signalbox.container" . | nindent 6 | trim }}
  {{- with include "signalbox.volumes" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with include "signalbox.scheduling" .workload | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if ne .workload.kind "CronJob" }}
  topologySpreadConstraints:
    {{- if .workload.topologySpreadConstraints }}
    {{- /* One list is for many components: who names no pods means those of each. */}}
    {{- range .workload.topologySpreadConstraints }}
    - {{- merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" (include "signalbox.selectorLabels" $names | fromYaml))) | toYaml | nindent 6 }}
    {{- end }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "signalbox.selectorLabels" $names | nindent 10 }}
    {{- end }}
  {{- end }}
{{- end -}}
