// The look of every mail we send: a heading, paragraphs, at most one button, a footer; as text and as HTML that
// asks no server for anything. Called by the mail jobs of the slices.
import { escapeHtml } from '../../lib/html.ts'

export type MessageParts = {
  heading: string
  /** May hold what users typed; a line break inside stays one. */
  paragraphs: string[]
  button?: { label: string; url: string }
  footer?: string
}

export function composeMessage(parts: MessageParts): { text: string; html: string } {
  // A mail is no place for javascript: or data:, wherever the address came from.
  if (parts.button && !/^https?:\/\//i.test(parts.button.url)) {
    throw new Error('The address of a button must begin with http:// or https://.')
  }
  return { text: toText(parts), html: toHtml(parts) }
}

function toText({ heading, paragraphs, button, footer }: MessageParts): string {
  return [
    heading,
    ...paragraphs,
    // The address on a line of its own, or mail programs take a full stop for a part of it.
    ...(button ? [`${button.label}:\n${button.url}`] : []),
    // Two dashes and a space begin a signature; mail programs show it in grey.
    ...(footer ? [`-- \n${footer}`] : []),
  ].join('\n\n')
}

function toHtml({ heading, paragraphs, button, footer }: MessageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(heading)}</title>
</head>
<body style="margin:0;padding:24px;background:#fff;color:#1d1f27;font:16px/1.5 sans-serif">
<div style="max-width:560px;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3;margin:0 0 16px">${escapeHtml(heading)}</h1>
${paragraphs.map((text) => `<p style="margin:0 0 16px">${withBreaks(text)}</p>`).join('\n')}
${button ? buttonHtml(button.label, button.url) : ''}
${footer ? `<p style="margin:24px 0 0;color:#5f6673;font-size:13px">${withBreaks(footer)}</p>` : ''}
</div>
</body>
</html>
`
}

/** The address is also shown, for mail programs that drop styles and for readers who want to see where it leads. */
function buttonHtml(label: string, url: string): string {
  const href = escapeHtml(url)
  const style =
    'display:inline-block;padding:10px 18px;background:#1d4aff;color:#fff;border-radius:6px;text-decoration:none'
  return `<p style="margin:24px 0 8px"><a href="${href}" style="${style}">${escapeHtml(label)}</a></p>
<p style="margin:0 0 16px;color:#5f6673;font-size:13px;word-break:break-all">${href}</p>`
}

function withBreaks(text: string): string {
  return escapeHtml(text).replace(/\r\n|\r|\n/g, '<br>')
}
