{{/* NetworkPolicies, and rules of them that both charts have. */}}

{{/* A NetworkPolicy of a component. root, component, name when it is not the component's, ingress, egress (texts of rules, DNS not among them) */}}
{{- define "signalbox.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "signalbox.metadata" (dict "root" .root "component" .component "name" .name) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- with .ingress | trim }}
  ingress:
    {{- . | nindent 4 }}
  {{- end }}
  egress:
    {{- include "signalbox.toDns" .root | nindent 4 }}
    {{- with .egress | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "signalbox.ports" -}}
{{- range . }}
- { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end -}}

{{/* A rule to what is outside the release; without peers any address. peers, ports */}}
{{- define "signalbox.flowOutside" -}}
- ports:
    {{- include "signalbox.ports" .ports | trim | nindent 4 }}
  {{- with .peers }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "signalbox.toDns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns.peers | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.dns.ports }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}

{{- define "signalbox.fromPrometheus" -}}
{{- if and (include "signalbox.scraped" .root) .root.Values.networkPolicy.prometheus -}}
- from:
    {{- toYaml .root.Values.networkPolicy.prometheus | nindent 4 }}
  ports:
    - { protocol: TCP, port: {{ .port }} }
{{- end -}}
{{- end -}}
