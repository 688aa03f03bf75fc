{{/* The name of everything. */}}
{{- define "longshore.name" -}}
{{- if contains "longshore" .Release.Name -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-longshore" .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "longshore.selector" -}}
app.kubernetes.io/name: longshore
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "longshore.labels" -}}
{{ include "longshore.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "longshore.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "longshore.secretName" -}}
{{ .Values.secret.existing | default (include "longshore.name" .) }}
{{- end -}}

{{/* What every container of the program has. */}}
{{- define "longshore.container" -}}
image: {{ include "longshore.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
envFrom:
  - secretRef:
      name: {{ include "longshore.secretName" . }}
env:
  - name: HOST
    value: 0.0.0.0
  - name: PORT
    value: "8000"
  - name: DATA_DIR
    value: /data
  - name: SITE_URL
    value: {{ required "siteUrl has to be set: the public address, such as https://longshore.example" .Values.siteUrl | quote }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{/* What every pod of the program has. */}}
{{- define "longshore.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
