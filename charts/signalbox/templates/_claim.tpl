{{/* A volumeClaimTemplate: Kubernetes refuses to change it, so it holds nothing that a version or a common label changes. */}}

{{/* root, component, name, persistence */}}
{{- define "signalbox.claim" -}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata:
    name: {{ .name }}
    labels:
      {{- include "signalbox.selectorLabels" . | nindent 6 }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .persistence.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests: { storage: {{ .persistence.size }} }
{{- end -}}
