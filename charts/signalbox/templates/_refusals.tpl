{{/* What the schema cannot tell: values that are right one by one and wrong together. */}}

{{/* root, workload */}}
{{- define "signalbox.refuseWorkload" -}}
{{- $of := printf "services.%s" .workload.deployable -}}
{{- $stopSeconds := add .workload.preStopSeconds 23 -}}
{{- if le (int .workload.terminationGracePeriodSeconds) (int $stopSeconds) -}}
{{- fail (printf "%s.terminationGracePeriodSeconds must be above preStopSeconds and the 23 s that a process takes at most to stop: above %d" $of $stopSeconds) -}}
{{- end -}}
{{- if and .workload.broker (eq (include "signalbox.brokerKind" .root) "none") (not .workload.environmentFileSecret) -}}
{{- fail (printf "%s.environmentFileSecret must name a Secret: rabbitmq.enabled, rabbitmq.external.existingSecret and rabbitmq.embedded are all off" $of) -}}
{{- end -}}
{{- end -}}

{{- define "signalbox.refusePostgres" -}}
{{- if and (not .Values.postgres.enabled) .Values.postgres.external.createRoles (not (or .Values.postgres.external.existingSecret .Values.existingSecret)) -}}
{{- fail "postgres.external.existingSecret must name the Secret with the administrator's password; or set postgres.external.createRoles to false" -}}
{{- end -}}
{{- end -}}
