// The page's policy forbids turning text into markup (src/app/console/serve.ts). The component library still writes its
// variables as the inner HTML of style elements: text without `<` can be no markup, and everything else is refused.

type Factory = { createPolicy(name: 'default', rules: { createHTML(text: string): string }): unknown }

const { trustedTypes } = globalThis as { trustedTypes?: Factory }

trustedTypes?.createPolicy('default', {
  createHTML(text) {
    if (text.includes('<')) throw new TypeError('Markup made of text is refused.')
    return text
  },
})
