{{/* Refusals that the schema cannot express: names that the catalogue does not have, and values that exclude each other. */}}

{{/* path, what, given (a map), known (a map) */}}
{{- define "signalbox.refuseUnknown" -}}
{{- range $name, $_ := .given | default dict -}}
{{- if not (hasKey $.known $name) -}}
{{- fail (printf "%s.%s: there is no such %s; there are: %s" $.path $name $.what (keys $.known | sortAlpha | join ", " | default "none")) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* An entry of `services` against the catalogue's. name, entry, facts */}}
{{- define "signalbox.refuseService" -}}
{{- $path := printf "services.%s" .name -}}
{{- include "signalbox.refuseUnknown" (dict "path" (printf "%s.workers" $path) "what" "worker" "given" .entry.workers "known" (.facts.workers | default dict)) -}}
{{- range list "spool" "smtp" "secrets" "oidc" "notificationRules" "sources" -}}
{{- if and (hasKey $.entry .) (not (get $.facts .)) -}}
{{- fail (printf "%s.%s: this service has none" $path .) -}}
{{- end -}}
{{- end -}}
{{- range $name, $list := dict "notificationRules" "rules" "sources" "sources" -}}
{{- with get $.entry $name -}}
{{- if not (kindIs "slice" (get (fromYaml .) $list)) -}}
{{- fail (printf "%s.%s must be YAML: a map with the list %s" $path $name $list) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A worker in the pod of its service has no values of its own. service, worker, entry, facts */}}
{{- define "signalbox.refuseInService" -}}
{{- $path := printf "services.%s.workers.%s" .service .worker -}}
{{- if not .facts.inService -}}
{{- fail (printf "%s.kind must be Deployment or CronJob" $path) -}}
{{- end -}}
{{- range without (keys .entry | sortAlpha) "enabled" "kind" -}}
{{- fail (printf "%s.%s: this worker runs in the pod of its service (kind: InService); give services.%s.%s instead" $path . $.service .) -}}
{{- end -}}
{{- end -}}

{{/* Values that would do nothing. root, services (those that are enabled) */}}
{{- define "signalbox.refuseIdle" -}}
{{- $external := .root.Values.rabbitmq.external -}}
{{- if and (ne (join "," $external.keys) "BROKER_URL_1") (not $external.existingSecret) -}}
{{- fail "rabbitmq.external.keys needs rabbitmq.external.existingSecret, the Secret that has them" -}}
{{- end -}}
{{- range $server, $member := dict "postgres" "host" "rabbitmq" "existingSecret" "redis" "existingSecret" -}}
{{- $values := get $.root.Values $server -}}
{{- if and $values.enabled (get $values.external $member) -}}
{{- fail (printf "%s.external.%s names a server outside, and the chart's own is on: set %s.enabled to false" $server $member $server) -}}
{{- end -}}
{{- end -}}
{{- range $name, $service := .services -}}
{{- if and $service.facts.secrets $service.secrets.enabled (not (hasKey $.services "secrets")) -}}
{{- fail (printf "services.%s.secrets.enabled needs services.secrets.enabled" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* root, workload */}}
{{- define "signalbox.refuseWorkload" -}}
{{- $stopSeconds := add .workload.preStopSeconds 30 -}}
{{- if le (int .workload.terminationGracePeriodSeconds) (int $stopSeconds) -}}
{{- fail (printf "%s.terminationGracePeriodSeconds must be above preStopSeconds and the 30 s that a process takes at most to stop: above %d" .workload.path $stopSeconds) -}}
{{- end -}}
{{- if and (eq .workload.kind "StatefulSet") (include "signalbox.isScaled" .workload) -}}
{{- fail (printf "services.%s: autoscaling and spool.persistence.enabled exclude each other: a pod that is scaled away would leave deliveries on its claim, unpublished until it comes back" .workload.deployable) -}}
{{- end -}}
{{- $storage := dig "limits" "ephemeral-storage" "" .workload.resources -}}
{{- if and .workload.spool $storage (ne .workload.kind "StatefulSet") -}}
{{- if gt (include "signalbox.bytes" .workload.spool.sizeLimit | float64) (include "signalbox.bytes" $storage | float64) -}}
{{- fail (printf "%s.spool.sizeLimit must not be above resources.limits.ephemeral-storage (%v), above which Kubernetes evicts the pod with all that is spooled" .workload.path $storage) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where its data is, below the mounted folder. A Postgres reads the data of its own major only. */}}
{{- define "signalbox.postgresDataDirectory" -}}
{{- $major := "18" -}}
{{- $wanted := regexFind "^[0-9]+" (toString .Values.postgres.image.tag) -}}
{{- if and (not .Values.postgres.dataDirectory) (ne $wanted $major) -}}
{{- fail (printf "postgres.image.tag %s is not of Postgres %s, whose data the volume has: docs/operations.md, The next Postgres major. On a new installation give postgres.dataDirectory: /var/lib/postgresql/%s/docker" .Values.postgres.image.tag $major (default "<major>" $wanted)) -}}
{{- end -}}
{{ .Values.postgres.dataDirectory | default (printf "/var/lib/postgresql/%s/docker" $major) }}
{{- end -}}
