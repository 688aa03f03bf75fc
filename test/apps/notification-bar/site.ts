// For web pages.
export function inject({ config, posthog }: { config: { text: string }; posthog: any }): void {
  const bar = document.createElement('div')
  bar.id = 'notification-bar'
  bar.textContent = config.text
  document.body.prepend(bar)
  posthog.capture('bar shown', { text: config.text })
}
