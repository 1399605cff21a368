{{/* The services of the values with their defaults and the facts of files/services.yaml, and the workloads they make: what all templates range over. */}}

{{/* The text of a template, made once a rendering: Helm hands the same root to each file of the chart. root, template */}}
{{- define "signalbox.once" -}}
{{- if not (hasKey .root .template) -}}
{{- $_ := set .root .template (include .template .root) -}}
{{- end -}}
{{ get .root .template }}
{{- end -}}

{{/* The bytes of a quantity of Kubernetes: 1.5Gi */}}
{{- define "signalbox.bytes" -}}
{{- $units := dict "" 1 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- $unit := regexFind "[A-Za-z]*$" (toString .) -}}
{{- mulf (trimSuffix $unit (toString .) | float64) (get $units $unit) -}}
{{- end -}}

{{/* name → entry as JSON, those that are enabled: YAML takes ten times as long to write and read again */}}
{{- define "signalbox.entries" -}}
{{ include "signalbox.once" (dict "root" . "template" "signalbox.makeEntries") }}
{{- end -}}

{{- define "signalbox.makeEntries" -}}
{{- $services := dict -}}
{{- $catalogue := .Files.Get "files/services.yaml" | fromYaml -}}
{{- include "signalbox.refuseUnknown" (dict "path" "services" "what" "service" "given" .Values.services "known" $catalogue) -}}
{{- range $name, $facts := $catalogue -}}
{{- $entry := get $.Values.services $name | default dict -}}
{{- include "signalbox.refuseService" (dict "name" $name "entry" $entry "facts" $facts) -}}
{{- $service := mergeOverwrite (deepCopy $.Values.defaults) (deepCopy $entry) -}}
{{- include "signalbox.tagOverDigest" (dict "image" $service.image "own" $entry.image) -}}
{{- if $service.enabled -}}
{{- $made := merge (dict "facts" $facts) (include "signalbox.facts" $facts | fromJson) $service -}}
{{- if and $facts.secrets (not $service.secrets.enabled) -}}
{{- $_ := set $made "optionalCredentials" (without $made.optionalCredentials "Console__SecretsToken") -}}
{{- $_ := unset $made.reaches "Console__SecretsUrl" -}}
{{- end -}}
{{- $_ := set $services $name $made -}}
{{- end -}}
{{- end -}}
{{- include "signalbox.refuseIdle" (dict "root" . "services" $services) -}}
{{ toJson $services }}
{{- end -}}

{{/* The entries that serve HTTP, likewise */}}
{{- define "signalbox.services" -}}
{{ include "signalbox.once" (dict "root" . "template" "signalbox.makeServices") }}
{{- end -}}

{{- define "signalbox.makeServices" -}}
{{- $services := dict -}}
{{- range $name, $service := include "signalbox.entries" . | fromJson -}}
{{- if not $service.runsWorker -}}
{{- $_ := set $services $name $service -}}
{{- end -}}
{{- end -}}
{{ toJson $services }}
{{- end -}}

{{/* All facts of a service or worker of files/services.yaml, with a value for those that it does not name */}}
{{- define "signalbox.facts" -}}
{{- $none := dict "credentials" list "optionalCredentials" list "broker" "" "redis" false "applications" false "runsWorker" "" "reaches" dict "events" false "runsFirst" false -}}
{{- mergeOverwrite $none (omit . "workers" "spool" "smtp" "secrets" "oidc" "notificationRules" "sources") | toJson -}}
{{- end -}}

{{/* A tag that is given by itself replaces the digest of what it is merged over. image (changed), own */}}
{{- define "signalbox.tagOverDigest" -}}
{{- if and (.own).tag (not (.own).digest) -}}
{{- $_ := set .image "digest" "" -}}
{{- end -}}
{{- end -}}

{{/* The image of a service or worker. root, own (its `image`, as merged over `defaults`) */}}
{{- define "signalbox.imageOf" -}}
{{- $image := mergeOverwrite (deepCopy .root.Values.image) (deepCopy (.own | default dict)) -}}
{{- include "signalbox.tagOverDigest" (dict "image" $image "own" .own) -}}
{{ include "signalbox.image" (dict "root" .root "image" $image) }}
{{- end -}}

{{/* component → workload, as JSON: a service, or a worker of one, which is like its service where it does not say otherwise.
     Each has further: component, deployable (the service it belongs to), path (of its values), kind, args, isWorker */}}
{{- define "signalbox.workloads" -}}
{{ include "signalbox.once" (dict "root" . "template" "signalbox.makeWorkloads") }}
{{- end -}}

{{- define "signalbox.makeWorkloads" -}}
{{- $workloads := dict -}}
{{- range $name, $service := include "signalbox.entries" . | fromJson -}}
{{- $common := omit $service "worker" "workers" "facts" -}}
{{- $keepsClaim := dig "spool" "persistence" "enabled" false $service -}}
{{- $own := dict "component" $name "deployable" $name "path" (printf "services.%s" $name) "kind" (ternary "StatefulSet" "Deployment" $keepsClaim) "args" (list "serve" $name) "isWorker" false -}}
{{- with $service.runsWorker -}}
{{- $_ := set $own "args" (list "worker" . "--loop") -}}
{{- $_ := set $own "isWorker" true -}}
{{- end -}}
{{- $made := mergeOverwrite (deepCopy $common) $own -}}
{{- $_ := set $workloads $name $made -}}
{{- range $worker, $facts := $service.facts.workers | default dict -}}
{{- $entry := get ($service.workers | default dict) $worker | default dict -}}
{{- $own := mergeOverwrite (omit $common "spool" "service" "sources" | deepCopy) (deepCopy $service.worker) (deepCopy $entry) -}}
{{- include "signalbox.tagOverDigest" (dict "image" $own.image "own" $entry.image) -}}
{{- if and $own.enabled (eq $own.kind "InService") -}}
{{- include "signalbox.refuseInService" (dict "service" $name "worker" $worker "entry" $entry "facts" $facts) -}}
{{- $_ := set $made "args" (concat $made.args (list "--worker" $worker)) -}}
{{- else if $own.enabled -}}
{{- $component := printf "%s-%s" $name $worker -}}
{{- $args := ternary (list "worker" $worker "--loop") (list "worker" $worker "--wait" "300") (eq $own.kind "Deployment") -}}
{{- $parts := dict "component" $component "deployable" $name "path" (printf "services.%s.workers.%s" $name $worker) "args" $args "isWorker" true -}}
{{- $_ := set $workloads $component (mergeOverwrite $own (include "signalbox.facts" $facts | fromJson) $parts) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toJson $workloads }}
{{- end -}}

{{/* The components that publish, consume, ask Postgres …: those of whom a key is true or not empty. root, key */}}
{{- define "signalbox.componentsWith" -}}
{{- $found := list -}}
{{- range $component, $workload := include "signalbox.workloads" .root | fromJson -}}
{{- if get $workload $.key -}}
{{- $found = append $found $component -}}
{{- end -}}
{{- end -}}
{{ toJson $found }}
{{- end -}}
