{{/* By which hosts and paths a service is public: its own `ingress` and `gateway`, over those at the top of the values. */}}

{{/* The host name of a service. host, domain, of (the value that the name is for) */}}
{{- define "signalbox.host" -}}
{{- if contains "." .host -}}
{{ .host }}
{{- else if .domain -}}
{{ .host }}.{{ .domain }}
{{- else -}}
{{- fail (printf "%s: the host %s has no domain: give ingress.domain or gateway.domain, or the whole name" .of .host) -}}
{{- end -}}
{{- end -}}

{{/* The values of a service's Ingress or HTTPRoute, with full `hosts`, `paths` and `isOn`. root, name, service, way (ingress, gateway) */}}
{{- define "signalbox.route" -}}
{{- $route := mergeOverwrite (deepCopy (get .root.Values .way)) (deepCopy (get .service .way)) -}}
{{- $domain := $route.domain -}}
{{- if and (eq .way "gateway") (not $domain) -}}
{{- $domain = (mergeOverwrite (deepCopy .root.Values.ingress) (deepCopy .service.ingress)).domain -}}
{{- end -}}
{{- $hosts := list -}}
{{- if $route.enabled -}}
{{- $of := printf "services.%s.%s" .name .way -}}
{{- range $route.hosts | default $route.hostnames | default .service.hosts -}}
{{- $hosts = append $hosts (include "signalbox.host" (dict "host" . "domain" $domain "of" $of)) -}}
{{- end -}}
{{- if and (eq .way "gateway") $hosts (not $route.parentRefs) -}}
{{- fail (printf "%s needs parentRefs: the Gateways that take its routes, here or in gateway.parentRefs" $of) -}}
{{- end -}}
{{- end -}}
{{ toJson (merge (dict "hosts" $hosts "paths" ($route.paths | default .service.paths) "isOn" (not (empty $hosts))) $route) }}
{{- end -}}

{{/* Whether a controller leads requests to the service: text, empty for no. root, name, service */}}
{{- define "signalbox.isPublic" -}}
{{- $parts := . -}}
{{- range $way := list "ingress" "gateway" -}}
{{- if (include "signalbox.route" (merge (dict "way" $way) $parts) | fromJson).isOn -}}yes{{- end -}}
{{- end -}}
{{- end -}}
