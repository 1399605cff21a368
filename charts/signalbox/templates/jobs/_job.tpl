{{/* A Job without hooks, named by the digest of its spec: a changed one is a new one, an equal one is left alone by
     Helm, by kubectl apply, and by everything else that compares. */}}

{{/* root, component, spec (text) */}}
{{- define "signalbox.job" -}}
{{- $name := include "signalbox.componentName" (dict "root" .root "component" (printf "%s-%s" .component (sha256sum .spec | trunc 8))) -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "signalbox.metadata" (dict "root" .root "component" .component "name" $name) | nindent 2 }}
spec:
  {{- .spec | nindent 2 }}
{{- end -}}

{{/* The spec of a Job of one container of our image. root, component, args; optional: env, volumes, volumeMounts (texts), token */}}
{{- define "signalbox.jobSpec" -}}
# It waits for servers and tries again; days of it are no reason to give up.
backoffLimit: 1000
template:
  metadata:
    labels:
      {{- include "signalbox.podLabels" . | nindent 6 }}
  spec:
    restartPolicy: OnFailure
    serviceAccountName: {{ include "signalbox.componentName" . }}
    automountServiceAccountToken: {{ .token | default false }}
    enableServiceLinks: false
    securityContext:
      {{- include "signalbox.podSecurity" 1000 | nindent 6 }}
    {{- with include "signalbox.pullSecrets" .root | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    containers:
      - name: {{ .component }}
        image: {{ include "signalbox.image" (dict "root" .root "image" .root.Values.image) }}
        imagePullPolicy: {{ .root.Values.image.pullPolicy }}
        args: {{ toJson .args }}
        {{- with .env }}
        env:
          {{- . | nindent 10 }}
        {{- end }}
        resources:
          {{- toYaml .root.Values.defaults.resources | nindent 10 }}
        securityContext:
          {{- include "signalbox.containerSecurity" . | nindent 10 }}
        {{- with .volumeMounts }}
        volumeMounts:
          {{- . | nindent 10 }}
        {{- end }}
    {{- with .volumes }}
    volumes:
      {{- . | nindent 6 }}
    {{- end }}
    {{- with include "signalbox.scheduling" .root.Values.defaults | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}
