// The look of the few pages that mailed links open: one form each, no script, nothing from another host.
import { createHash } from 'node:crypto'
import { escapeHtml } from '../../lib/html.ts'

export type Field = {
  name: string
  label: string
  type: 'text' | 'email' | 'password' | 'checkbox'
  autocomplete: string
  value?: string
}

export type Page = {
  title: string
  /** Shown above the form: what went wrong, in the API's own words. */
  error?: string | null
  text?: string
  form?: { fields: readonly Field[]; button: string; action?: string }
  links?: readonly { href: string; label: string }[]
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 12vh auto 4rem; max-width: 24rem; padding: 0 1.25rem }
h1 { font-size: 1.4rem; margin: 0 0 1rem }
.brand { font-weight: 600; color: #5f6673; margin: 0 0 2rem }
label { display: block; margin: 0 0 1rem; font-size: .9rem }
input { display: block; box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem; font: inherit;
  border: 1px solid #8a91a0; border-radius: 6px }
input[type=checkbox] { display: inline; width: auto; margin: 0 }
button { width: 100%; padding: .65rem; font: inherit; font-weight: 600; color: #fff; background: #1d4aff; border: 0;
  border-radius: 6px; cursor: pointer }
.error { padding: .6rem .8rem; border-left: 3px solid #c6261f; background: #c6261f1a }
nav { margin-top: 1.5rem; display: flex; gap: 1.25rem; font-size: .9rem }
`

/** Nothing but our own style and forms to ourselves: a page with a password field runs no script at all. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

export function renderPage(page: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escapeHtml(page.title)} · Longshore</title>
<style>${STYLE}</style>
</head>
<body>
<p class="brand">Longshore</p>
<main>
<h1>${escapeHtml(page.title)}</h1>
${page.error ? `<p class="error" role="alert">${escapeHtml(page.error)}</p>` : ''}
${page.text ? `<p>${escapeHtml(page.text)}</p>` : ''}
${page.form ? renderForm(page.form) : ''}
${page.links ? `<nav>${page.links.map(({ href, label }) => `<a href="${escapeHtml(href)}">${escapeHtml(label)}</a>`).join('')}</nav>` : ''}
</main>
</body>
</html>
`
}

function renderForm(form: NonNullable<Page['form']>): string {
  const action = form.action === undefined ? '' : ` action="${escapeHtml(form.action)}"`
  return `<form method="post"${action}>
${form.fields.map(renderField).join('\n')}
<button>${escapeHtml(form.button)}</button>
</form>`
}

function renderField({ name, label, type, autocomplete, value }: Field): string {
  if (type === 'checkbox') {
    return `<label><input name="${name}" type="checkbox" value="true"> ${escapeHtml(label)}</label>`
  }
  const filled = value === undefined ? '' : ` value="${escapeHtml(value)}"`
  return `<label>${escapeHtml(label)}<input name="${name}" type="${type}" autocomplete="${autocomplete}" required${filled}></label>`
}
