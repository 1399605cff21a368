{{/* What the schema cannot tell: values that are right one by one and wrong together. root, workload */}}
{{- define "signalbox.refuseWorkload" -}}
{{- $stopSeconds := add .workload.preStopSeconds 30 -}}
{{- if le (int .workload.terminationGracePeriodSeconds) (int $stopSeconds) -}}
{{- fail (printf "services.%s.terminationGracePeriodSeconds must be above preStopSeconds and the 30 s that a process takes at most to stop: above %d" .workload.deployable $stopSeconds) -}}
{{- end -}}
{{- end -}}
