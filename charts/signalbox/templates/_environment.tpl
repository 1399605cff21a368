{{/* Environment variables of a workload. A URL is composed by Kubernetes from a password variable before it: $(NAME). */}}

{{/* Numbers of YAML are floats in Helm: 2000000 would become 2e+06. A list becomes comma-separated. */}}
{{- define "signalbox.text" -}}
{{- if kindIs "slice" . -}}
{{ join "," . }}
{{- else if and (kindIs "float64" .) (eq . (floor .)) -}}
{{ int64 . }}
{{- else -}}
{{ . }}
{{- end -}}
{{- end -}}

{{/* name, secret, key, optional: without it a key that is missing keeps the pod from starting */}}
{{- define "signalbox.fromSecret" -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }}{{ if .optional }}, optional: true{{ end }} } }
{{- end -}}

{{/* root, workload */}}
{{- define "signalbox.environment" -}}
{{- $root := .root -}}
{{- $workload := .workload -}}
{{- $secret := include "signalbox.credentialsSecret" $root -}}
- { name: METRICS_PORT, value: "9090" }
{{- if not $workload.isWorker }}
- { name: PORT, value: "8080" }
{{- end }}
{{- include "signalbox.trustEnvironment" $root }}
{{- if $workload.schema }}
{{- $role := include "signalbox.databaseRole" (dict "root" $root "schema" $workload.schema "own" $workload.database) | fromJson }}
{{ include "signalbox.fromSecret" (merge (dict "name" "DATABASE_PASSWORD") $role) }}
- name: DATABASE_URL
  value: postgres://{{ $role.user }}:$(DATABASE_PASSWORD)@{{ include "signalbox.postgresAddress" $root }}
{{- end }}
{{- include "signalbox.reachedEnvironment" . }}
{{- if $workload.broker }}
{{- include "signalbox.brokerEnvironment" . }}
{{- end }}
{{- if $workload.redis }}
{{- include "signalbox.redisEnvironment" $root }}
{{- end }}
{{- range $workload.credentials }}
{{ include "signalbox.fromSecret" (dict "name" . "secret" ($workload.existingSecret | default $secret) "key" .) }}
{{- end }}
{{- $oidcSecret := dig "oidc" "secretName" "" $workload }}
{{- if $oidcSecret }}
{{ include "signalbox.fromSecret" (dict "name" "Console__Oidc__ClientSecret" "secret" $oidcSecret "key" $workload.oidc.secretKey) }}
{{- end }}
{{- range ternary (without $workload.optionalCredentials "Console__Oidc__ClientSecret") $workload.optionalCredentials (ne $oidcSecret "") }}
{{ include "signalbox.fromSecret" (dict "name" . "secret" ($workload.existingSecret | default $secret) "key" . "optional" true) }}
{{- end }}
{{- if $workload.notificationRules }}
- { name: Notifications__RulesFile, value: /etc/signalbox/rules/rules.yaml }
{{- end }}
{{- if $workload.sources }}
- { name: Sources__File, value: /etc/signalbox/sources/sources.yaml }
{{- end }}
{{- if and $workload.events (not (hasKey $workload.settings "Events__Url")) }}
{{- with include "signalbox.eventsUrl" $root }}
- { name: Events__Url, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- if and $workload.runbooks (not (hasKey $workload.settings "Console__RunbookUrl")) }}
{{- with $root.Values.monitoring.prometheusRule.runbookUrl }}
- { name: Console__RunbookUrl, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- with $workload.spool }}
- { name: FailedPayloads__Directory, value: {{ .directory }} }
{{- if ne $workload.kind "StatefulSet" }}
{{- /* Above the limit of its emptyDir a pod is evicted, and all that is spooled is gone: the relay stops before. */}}
- { name: FailedPayloads__MaxBytes, value: {{ mulf (include "signalbox.bytes" .sizeLimit | float64) 0.9 | int64 | quote }} }
{{- end }}
{{- end }}
{{- with $workload.smtp }}
{{- if .enabled }}
- { name: Smtp__Listen, value: "smtp://*:2525" }
{{- if .tlsSecret }}
- { name: Smtp__CertificateFile, value: /etc/signalbox/smtp-tls/tls.crt }
- { name: Smtp__KeyFile, value: /etc/signalbox/smtp-tls/tls.key }
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := $workload.settings }}
- name: {{ $name }}
  value: {{ include "signalbox.text" $value | quote }}
{{- end }}
{{- end -}}

{{/* Addresses of the services that a workload calls, where they are enabled. root, workload */}}
{{- define "signalbox.reachedEnvironment" -}}
{{- with .workload.reaches }}
{{- $services := include "signalbox.services" $.root | fromJson }}
{{- range $setting, $name := . }}
{{- with get $services $name }}
- { name: {{ $setting }}, value: "http://{{ include "signalbox.componentName" (dict "root" $.root "component" $name) }}:{{ .service.port }}" }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The role that owns a schema, or that of `backup`, as JSON: user, and secret and key of its password. root, schema, own (its `database`) */}}
{{- define "signalbox.databaseRole" -}}
{{- $role := dict "user" (.own.username | default .schema) "secret" (include "signalbox.credentialsSecret" .root) -}}
{{- $_ := set $role "key" (printf "postgres-%s-password" .schema) -}}
{{- with .own.existingSecret -}}
{{- $_ := set $role "secret" . -}}
{{- $_ := set $role "key" $.own.passwordKey -}}
{{- end -}}
{{ toJson $role }}
{{- end -}}

{{/* Authorities beside those that Node.js knows */}}
{{- define "signalbox.trustEnvironment" -}}
{{- if or .Values.trustedCA.secret .Values.trustedCA.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: {{ printf "/etc/signalbox/trusted-ca/%s" .Values.trustedCA.key | quote }} }
{{- end }}
{{- end -}}

{{/* Where the broker is: one URL under the name of the catalogue, of the external ones all where the name has a number. root, workload */}}
{{- define "signalbox.brokerEnvironment" -}}
{{- $root := .root -}}
{{- $workload := .workload -}}
{{- $secret := include "signalbox.credentialsSecret" $root -}}
{{- $external := $root.Values.rabbitmq.external -}}
{{- $kind := include "signalbox.brokerKind" $root -}}
{{- if not (hasKey $workload.settings "Broker__QueueType") }}
- { name: Broker__QueueType, value: {{ $root.Values.rabbitmq.queueType }} }
{{- end }}
{{- if include "signalbox.environmentFileSecret" . }}
- { name: Broker__EnvironmentFile, value: /etc/signalbox/brokers/{{ $workload.environmentFileKey }} }
{{- end }}
{{- if eq $kind "rabbitmq" }}
{{ include "signalbox.fromSecret" (dict "name" "RABBITMQ_PASSWORD" "secret" $secret "key" (printf "rabbitmq-%s-password" $workload.brokerUser)) }}
- name: {{ $workload.broker }}
  value: amqp://{{ $workload.brokerUser }}:$(RABBITMQ_PASSWORD)@{{ include "signalbox.componentName" (dict "root" $root "component" "rabbitmq") }}:5672
{{- else if eq $kind "embedded" }}
{{- $role := include "signalbox.databaseRole" (dict "root" $root "schema" "broker" "own" $root.Values.rabbitmq.database) | fromJson }}
{{ include "signalbox.fromSecret" (merge (dict "name" "BROKER_PASSWORD") $role) }}
- name: {{ $workload.broker }}
  value: postgres://{{ $role.user }}:$(BROKER_PASSWORD)@{{ include "signalbox.postgresAddress" $root }}
{{- else if eq $kind "external" }}
{{- range $index, $key := ternary $external.keys (list (first $external.keys)) (eq $workload.broker "BROKER_URL_1") }}
{{ include "signalbox.fromSecret" (dict "name" (replace "_1" (printf "_%d" (add1 $index)) $workload.broker) "secret" $external.existingSecret "key" $key) }}
{{- end }}
{{- else if ne $workload.broker "BROKER_URL_1" }}
{{ include "signalbox.fromSecret" (dict "name" $workload.broker "secret" ($workload.existingSecret | default $secret) "key" $workload.broker) }}
{{- end }}
{{- end -}}

{{/* The source `signalbox` of the intake, for events of Signalbox' own; empty without an intake */}}
{{- define "signalbox.eventsUrl" -}}
{{- $intake := get .Values.services "webhook-intake" | default dict -}}
{{- if and .Values.events.enabled (dig "enabled" .Values.defaults.enabled $intake) -}}
http://{{ include "signalbox.componentName" (dict "root" . "component" "webhook-intake") }}:{{ dig "service" "port" .Values.defaults.service.port $intake }}/signalbox
{{- end -}}
{{- end -}}

{{- define "signalbox.redisEnvironment" -}}
{{- $kind := include "signalbox.redisKind" . -}}
{{- if eq $kind "own" }}
{{ include "signalbox.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" (include "signalbox.credentialsSecret" .) "key" "redis-password") }}
- name: REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "signalbox.componentName" (dict "root" . "component" "redis") }}:6379
{{- else if eq $kind "external" }}
{{ include "signalbox.fromSecret" (dict "name" "REDIS_URL" "secret" .Values.redis.external.existingSecret "key" .Values.redis.external.key) }}
{{- end }}
{{- end -}}
