// The editor of every page that takes code. It is heavy, so it comes when the first one is shown; until then the text
// stands there plain.
import type { CompletionSource } from '@codemirror/autocomplete'
import { lazy, Suspense } from 'react'
import classes from './CodeEditor.module.css'

export type CodeLanguage = 'sql' | 'javascript' | 'typescript' | 'json'

/** What is wrong from one offset of the text to another, in UTF-16 units. */
export type CodeProblem = { from: number; to: number; message: string }

export type CodeEditorProps = {
  value: string
  onChange?: (value: string) => void
  language: CodeLanguage
  /** What is written here, for those who listen. */
  label: string
  /** Besides what the language itself completes. */
  completions?: readonly CompletionSource[]
  diagnostics?: readonly CodeProblem[]
  /** Ctrl-Enter or Cmd-Enter. */
  onRun?: () => void
  /** Ctrl-S or Cmd-S. */
  onSave?: () => void
  isReadOnly?: boolean
  /** As CSS says it. Without it the editor is as high as its text. */
  height?: string
  /** Without a border, for editors that fill a pane. */
  isBare?: boolean
  hasFocus?: boolean
  /** An offset to bring into sight, with the cursor at it. */
  shownAt?: number
}

const Editor = lazy(() => import('./Editor'))

export function CodeEditor(props: CodeEditorProps) {
  const { height, isBare = false, value, label } = props
  return (
    <div
      className={classes.frame}
      data-bare={isBare || undefined}
      style={height === undefined ? undefined : { height }}
    >
      <Suspense
        fallback={
          <pre className={classes.waiting} aria-label={label} aria-busy="true">
            {value}
          </pre>
        }
      >
        <Editor {...props} />
      </Suspense>
    </div>
  )
}
