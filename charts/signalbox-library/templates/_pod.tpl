{{/* The pod of a workload, server or Job. `options` are the pod options of values.yaml, the same for every pod: $defs.podOptions of values.schema.json. */}}

{{/* A map of a user over one of the chart, key by key, as JSON; null drops a key. own, base */}}
{{- define "signalbox.over" -}}
{{- $result := deepCopy .base -}}
{{- range $key, $value := .own | default dict -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $result $key -}}
{{- else -}}
{{- $_ := set $result $key $value -}}
{{- end -}}
{{- end -}}
{{ toJson $result }}
{{- end -}}

{{/* The ServiceAccount of a pod. root, component, options; name when it is not the component's */}}
{{- define "signalbox.serviceAccountName" -}}
{{- $account := .options.serviceAccount | default dict -}}
{{- $own := .name | default (include "signalbox.componentName" .) -}}
{{ $account.name | default (ternary $own "default" (dig "create" true $account)) }}
{{- end -}}

{{/* metadata and spec of a pod. root, component, options, user (its number), container (text);
     optional: name (of its ServiceAccount), labels, annotations (maps), token, restartPolicy, initContainer, volumes (texts), isSpread (over nodes) */}}
{{- define "signalbox.pod" -}}
{{- $options := .options -}}
metadata:
  labels:
    {{- include "signalbox.podLabels" (merge (dict "own" (merge dict (.labels | default dict) ($options.podLabels | default dict))) .) | nindent 4 }}
  {{- with merge dict ($options.podAnnotations | default dict) (.annotations | default dict) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  serviceAccountName: {{ include "signalbox.serviceAccountName" . }}
  automountServiceAccountToken: {{ .token | default false }}
  enableServiceLinks: false
  {{- with $options.terminationGracePeriodSeconds }}
  terminationGracePeriodSeconds: {{ int . }}
  {{- end }}
  securityContext:
    {{- include "signalbox.over" (dict "own" $options.podSecurityContext "base" (include "signalbox.podSecurity" .user | fromYaml)) | fromJson | toYaml | nindent 4 }}
  {{- with include "signalbox.pullSecrets" .root | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- range $option := list "priorityClassName" "runtimeClassName" "dnsPolicy" "dnsConfig" "hostAliases" "tolerations" "affinity" }}
  {{- with get $options $option }}
  {{- dict $option . | toYaml | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- with include "signalbox.over" (dict "own" $options.nodeSelector "base" (dict "kubernetes.io/os" "linux")) | fromJson }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "signalbox.spread" . | trim }}
  topologySpreadConstraints:
    {{- . | nindent 4 }}
  {{- end }}
  {{- if or .initContainer $options.initContainers }}
  initContainers:
    {{- with .initContainer }}
    - {{ . | trim | nindent 6 | trim }}
    {{- end }}
    {{- with $options.initContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    - {{ .container | trim | nindent 6 | trim }}
    {{- with $options.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with printf "%s\n%s" (.volumes | default "") (include "signalbox.list" $options.extraVolumes) | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A list as YAML, nothing for an empty one */}}
{{- define "signalbox.list" -}}
{{- with . }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{/* One list of constraints is for many components: what names no pods means those of each. The same arguments */}}
{{- define "signalbox.spread" -}}
{{- $selector := dict "labelSelector" (dict "matchLabels" (include "signalbox.selectorLabels" . | fromYaml)) -}}
{{- /* Of a Deployment the pods of one ReplicaSet: in a rollout those that go would count as well. No second constraint by zone: the scheduler then
        leaves out of both each node without such a label. */ -}}
{{- $usual := list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash")) -}}
{{- range .options.topologySpreadConstraints | default (ternary $usual list (.isSpread | default false)) }}
- {{ ternary . (merge (deepCopy $selector) .) (hasKey . "labelSelector") | toYaml | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/* The main container of a pod. root, name, image (text), pullPolicy, options, path (of the options in the values);
     optional: run (command and args), env, ports, volumeMounts (texts), lifecycle, probes (maps; of probes startup, readiness, liveness),
     settings, fixed, helpers (names of variables, as of signalbox.variables) */}}
{{- define "signalbox.container" -}}
{{- $options := .options -}}
name: {{ .name }}
image: {{ .image }}
imagePullPolicy: {{ .pullPolicy }}
{{- with .run }}
{{ trim . }}
{{- end }}
{{- with $options.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "signalbox.variables" . | fromJsonArray }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .ports }}
ports:
  {{- . | trim | nindent 2 }}
{{- end }}
{{- range $probe, $base := .probes }}
{{ $probe }}Probe:
  {{- include "signalbox.probe" (dict "own" (get ($options.probes | default dict) $probe) "base" $base) | fromJson | toYaml | nindent 2 }}
{{- end }}
{{- with include "signalbox.over" (dict "own" $options.lifecycle "base" (.lifecycle | default dict)) | fromJson }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $options.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "signalbox.over" (dict "own" $options.securityContext "base" (include "signalbox.containerSecurity" . | fromYaml)) | fromJson | toYaml | nindent 2 }}
{{- with printf "%s\n%s" (.volumeMounts | default "") (include "signalbox.list" $options.extraVolumeMounts) | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A probe of a user over that of the chart, as JSON; another way to ask replaces the chart's. own, base */}}
{{- define "signalbox.probe" -}}
{{- $ways := list "httpGet" "tcpSocket" "exec" "grpc" -}}
{{- $base := deepCopy .base -}}
{{- range $way := $ways -}}
{{- if hasKey ($.own | default dict) $way -}}
{{- range $ways -}}{{- $_ := unset $base . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{ include "signalbox.over" (dict "own" .own "base" $base) }}
{{- end -}}

{{/* How a process of ours is asked; a worker has no public port, its health is beside its metrics. port */}}
{{- define "signalbox.healthProbes" -}}
{{- $probes := dict -}}
{{- range $probe, $path := dict "startup" "/health" "readiness" "/health/ready" "liveness" "/health" -}}
{{- $_ := set $probes $probe (dict "httpGet" (dict "path" $path "port" $.port)) -}}
{{- end -}}
{{ toJson $probes }}
{{- end -}}

{{/* The variables of a container as a list of JSON: the chart's, without those that `extraEnv` gives, and then `extraEnv`. A duplicate
     name is refused here: server-side apply takes no list with one, and it would be unclear which value counts. `X_FILE` sets X.
     env (text), options, path; optional: settings (names that are from settings), fixed (names that no value may set),
     helpers (names that exist for the $(…) of others, and are dropped with the last of them) */}}
{{- define "signalbox.variables" -}}
{{- $own := .env | default "[]" | fromYamlArray -}}
{{- $extra := .options.extraEnv | default list -}}
{{- $given := list -}}
{{- range $extra -}}
{{- if or (has .name $given) (has .name ($.settings | default list)) -}}
{{- fail (printf "%s.extraEnv: %s is given twice" $.path .name) -}}
{{- end -}}
{{- if has (trimSuffix "_FILE" .name) ($.fixed | default list) -}}
{{- fail (printf "%s.extraEnv: %s is given by the chart, whose ports and probes depend on it" $.path .name) -}}
{{- end -}}
{{- $given = append $given .name -}}
{{- if hasSuffix "_FILE" .name -}}
{{- $given = append $given (trimSuffix "_FILE" .name) -}}
{{- end -}}
{{- end -}}
{{- $seen := list -}}
{{- $kept := list -}}
{{- range $own -}}
{{- if has .name $seen -}}
{{- fail (printf "%s.settings: %s is given by the chart, too: a credential belongs in its Secret, extraEnv replaces anything else" $.path .name) -}}
{{- end -}}
{{- $seen = append $seen .name -}}
{{- if not (has .name $given) -}}
{{- $kept = append $kept . -}}
{{- end -}}
{{- end -}}
{{- range .settings -}}
{{- if and (hasSuffix "_FILE" .) (has (trimSuffix "_FILE" .) $seen) -}}
{{- fail (printf "%s.settings: %s is given by the chart, too: a credential belongs in its Secret, extraEnv replaces anything else" $.path (trimSuffix "_FILE" .)) -}}
{{- end -}}
{{- end -}}
{{- $all := concat $kept $extra -}}
{{- $text := toJson $all -}}
{{- $used := list -}}
{{- range $all -}}
{{- if or (not (has .name ($.helpers | default list))) (contains (printf "$(%s)" .name) $text) -}}
{{- $used = append $used . -}}
{{- end -}}
{{- end -}}
{{ toJson $used }}
{{- end -}}
