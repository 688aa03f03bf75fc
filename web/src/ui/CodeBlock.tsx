// Code to take away: in code type, scrolling in itself, with a button that copies all of it.
import { Button, CopyButton } from '@mantine/core'
import classes from './CodeBlock.module.css'
import { Icon } from './Icon'

type Props = { label: string; code: string; onCopy?: () => void }

export function CodeBlock({ label, code, onCopy }: Props) {
  return (
    <div className={classes.block}>
      <div className={classes.head}>
        <span className={classes.label}>{label}</span>
        <CopyButton value={code} timeout={1_500}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<Icon name={copied ? 'check' : 'copy'} size={14} />}
              onClick={() => {
                copy()
                onCopy?.()
              }}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </div>
      <pre className={classes.code} tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </pre>
    </div>
  )
}
