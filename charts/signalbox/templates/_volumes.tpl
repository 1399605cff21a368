{{/* Volumes of a workload, and where they are mounted. */}}

{{- define "signalbox.hasPostgresAuthority" -}}
{{- if and (not .Values.postgres.enabled) .Values.postgres.external.caSecret }}true{{ end -}}
{{- end -}}

{{/* Volumes of every pod that runs Signalbox' image */}}
{{- define "signalbox.trustVolume" -}}
{{- if and .Values.trustedCA.secret .Values.trustedCA.configMap }}
{{- fail "trustedCA.secret and trustedCA.configMap exclude each other: put all certificates into one of them" }}
{{- end }}
{{- with .Values.trustedCA.secret }}
- { name: trusted-ca, secret: { secretName: {{ . }} } }
{{- end }}
{{- with .Values.trustedCA.configMap }}
- { name: trusted-ca, configMap: { name: {{ . }} } }
{{- end }}
{{- end -}}

{{- define "signalbox.trustMount" -}}
{{- if or .Values.trustedCA.secret .Values.trustedCA.configMap }}
- { name: trusted-ca, mountPath: /etc/signalbox/trusted-ca, readOnly: true }
{{- end }}
{{- end -}}

{{/* root, workload */}}
{{- define "signalbox.volumes" -}}
{{- include "signalbox.trustVolume" .root }}
{{- with include "signalbox.environmentFileSecret" . }}
- name: brokers
  secret:
    secretName: {{ . }}
    optional: true
{{- end }}
{{- if include "signalbox.hasPostgresAuthority" .root }}
- name: postgres-ca
  secret: { secretName: {{ .root.Values.postgres.external.caSecret }} }
{{- end }}
{{- if and .workload.spool (ne .workload.kind "StatefulSet") }}
- name: spool
  emptyDir: { sizeLimit: {{ .workload.spool.sizeLimit }} }
{{- end }}
{{- with .workload.smtp }}
{{- if and .enabled .tlsSecret }}
- { name: smtp-tls, secret: { secretName: {{ .tlsSecret }} } }
{{- end }}
{{- end }}
{{- if .workload.notificationRules }}
- name: rules
  configMap: { name: {{ include "signalbox.componentName" (dict "root" .root "component" (printf "%s-rules" .workload.deployable)) }} }
{{- end }}
{{- if .workload.sources }}
- name: sources
  configMap: { name: {{ include "signalbox.componentName" (dict "root" .root "component" (printf "%s-sources" .workload.deployable)) }} }
{{- end }}
{{- end -}}

{{/* Secrets and ConfigMaps are mounted as directories: a file of one that is mounted by itself never changes. root, workload */}}
{{- define "signalbox.volumeMounts" -}}
{{- include "signalbox.trustMount" .root }}
{{- if include "signalbox.environmentFileSecret" . }}
- { name: brokers, mountPath: /etc/signalbox/brokers, readOnly: true }
{{- end }}
{{- if include "signalbox.hasPostgresAuthority" .root }}
- { name: postgres-ca, mountPath: /etc/signalbox/postgres-ca, readOnly: true }
{{- end }}
{{- with .workload.spool }}
- { name: spool, mountPath: {{ .directory }} }
{{- end }}
{{- with .workload.smtp }}
{{- if and .enabled .tlsSecret }}
- { name: smtp-tls, mountPath: /etc/signalbox/smtp-tls, readOnly: true }
{{- end }}
{{- end }}
{{- if .workload.notificationRules }}
- { name: rules, mountPath: /etc/signalbox/rules, readOnly: true }
{{- end }}
{{- if .workload.sources }}
- { name: sources, mountPath: /etc/signalbox/sources, readOnly: true }
{{- end }}
{{- end -}}
