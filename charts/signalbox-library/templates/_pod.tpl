{{/* Parts of a pod that both charts have. */}}

{{/* Where a pod may run: of a workload, or of a server's values */}}
{{- define "signalbox.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A worker has no public port; its health is beside its metrics. */}}
{{- define "signalbox.probes" -}}
{{- $port := ternary "metrics" "http" .isWorker -}}
{{- $paths := dict "startup" "/health" "readiness" "/health/ready" "liveness" "/health" -}}
{{- range $probe := list "startup" "readiness" "liveness" }}
{{ $probe }}Probe:
  httpGet: { path: {{ get $paths $probe }}, port: {{ $port }} }
  {{- toYaml (get $.probes $probe) | nindent 2 }}
{{- end }}
{{- end -}}
