{{/* A NetworkPolicy of a component. root, component, ingress, egress (texts of rules, DNS not among them) */}}
{{- define "signalbox.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "signalbox.metadata" (dict "root" .root "component" .component) | nindent 2 }}
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
