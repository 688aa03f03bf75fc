// The editor in the console's own colours: only tokens of theme.ts, so it changes with the theme by itself.
import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export const highlighting = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.controlKeyword],
    color: 'var(--ls-code-word)',
    fontWeight: '500',
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--ls-code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--ls-code-number)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.standard(tags.name)],
    color: 'var(--ls-code-name)',
  },
  { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--ls-code-name)' },
  { tag: tags.propertyName, color: 'var(--ls-code-name)' },
  { tag: [tags.comment, tags.meta], color: 'var(--ls-quiet)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.bracket, tags.operator], color: 'var(--ls-quiet)' },
  { tag: tags.invalid, color: 'var(--ls-failed)' },
])

const FLOATING = {
  background: 'var(--ls-page)',
  color: 'var(--ls-text)',
  border: '1px solid var(--ls-hairline)',
  borderRadius: 'var(--mantine-radius-md)',
  boxShadow: 'var(--ls-shadow)',
}

export const look = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: 'var(--mantine-font-size-sm)',
    backgroundColor: 'var(--ls-page)',
    color: 'var(--ls-text)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    lineHeight: '1.55',
    overflow: 'auto',
  },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--ls-accent)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-gutters': {
    backgroundColor: 'var(--ls-page)',
    color: 'var(--ls-quiet)',
    border: 'none',
    minWidth: '40px',
    justifyContent: 'flex-end',
  },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'var(--ls-raised)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--ls-accent)', borderLeftWidth: '2px' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'var(--ls-marked)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--ls-selected)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--ls-selected)',
    outline: '1px solid var(--ls-control)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--ls-removed)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    paddingBottom: '0',
    textDecoration: 'underline wavy var(--ls-failed) 1.5px',
    textUnderlineOffset: '3px',
    textDecorationSkipInk: 'none',
  },
  '.cm-diagnostic-error': {
    borderLeft: '3px solid var(--ls-failed)',
    fontFamily: 'var(--mantine-font-family)',
    padding: '6px 10px',
  },
  '.cm-tooltip': { ...FLOATING, overflow: 'hidden' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    maxHeight: '264px',
    minWidth: '240px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    display: 'flex',
    justifyContent: 'space-between',
    gap: '16px',
    padding: '3px 10px',
    lineHeight: '1.5',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--ls-selected)',
    color: 'var(--ls-text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600', color: 'var(--ls-accent)' },
  '.cm-completionDetail': {
    fontStyle: 'normal',
    fontFamily: 'var(--mantine-font-family)',
    color: 'var(--ls-quiet)',
    marginLeft: '0',
  },
  '.cm-tooltip.cm-completionInfo': {
    ...FLOATING,
    padding: '8px 10px',
    fontFamily: 'var(--mantine-font-family)',
    maxWidth: '320px',
  },
  '.cm-panels': { background: 'var(--ls-raised)', color: 'var(--ls-text)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--ls-hairline)' },
  '.cm-panel.cm-search': { padding: '8px 12px', fontSize: 'var(--mantine-font-size-sm)' },
  '.cm-textfield': {
    fontSize: 'inherit',
    background: 'var(--ls-page)',
    border: '1px solid var(--ls-edge)',
    borderRadius: 'var(--mantine-radius-sm)',
  },
  '.cm-button': {
    fontSize: 'inherit',
    backgroundImage: 'none',
    background: 'var(--ls-page)',
    border: '1px solid var(--ls-hairline)',
    borderRadius: 'var(--mantine-radius-sm)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--ls-added)', outline: '1px solid var(--ls-control)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--ls-marked)' },
})
