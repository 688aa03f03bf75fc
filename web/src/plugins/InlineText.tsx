import { Anchor, Code } from '@mantine/core'
import { inlineParts } from './inline-text'

/** What an app's author wrote of a setting. */
export function InlineText({ children }: { children: string }) {
  return inlineParts(children).map((part, index) => {
    if (part.kind === 'link')
      return (
        <Anchor
          inherit
          key={index}
          href={part.href}
          target="_blank"
          rel="noopener noreferrer"
          underline="always"
        >
          {part.text}
        </Anchor>
      )
    if (part.kind === 'code') return <Code key={index}>{part.text}</Code>
    return part.kind === 'strong' ? <b key={index}>{part.text}</b> : part.text
  })
}
