// `notification_settings` in the words of its switches. Most of its names say "disabled", one does not.

export type Mail = { about: 'apps' } | { about: 'exports' | 'members'; id: string }

const NAMES = {
  exports: 'pipeline_notifications_disabled',
  members: 'organization_member_join_email_disabled',
} as const

export function isMailed(settings: Readonly<Record<string, unknown>>, mail: Mail): boolean {
  if (mail.about === 'apps') return settings.plugin_disabled !== false
  const byId = settings[NAMES[mail.about]] as Readonly<Record<string, unknown>> | undefined
  return byId?.[mail.id] !== true
}

/** What to send: only this one, the rest stays as it is. */
export function settingOf(mail: Mail, isOn: boolean): Record<string, unknown> {
  return mail.about === 'apps' ? { plugin_disabled: isOn } : { [NAMES[mail.about]]: { [mail.id]: !isOn } }
}
