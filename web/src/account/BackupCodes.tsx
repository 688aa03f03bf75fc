import { Button } from '@mantine/core'
import { useState } from 'react'
import { ShownOnce } from '../ui/ShownOnce'

/** Ten codes for the day the phone is lost. */
export function BackupCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [isSaved, setSaved] = useState(false)
  const save = () => {
    const url = URL.createObjectURL(new Blob([`${codes.join('\n')}\n`], { type: 'text/plain' }))
    const link = Object.assign(document.createElement('a'), {
      href: url,
      download: 'longshore-backup-codes.txt',
    })
    link.click()
    URL.revokeObjectURL(url)
    setSaved(true)
  }
  return (
    <ShownOnce
      value={codes.join('\n')}
      copy="Copy codes"
      isSafe={isSaved}
      actions={
        <>
          <Button variant="default" onClick={save}>
            Download
          </Button>
          <Button variant="default" onClick={onClose}>
            I have kept them
          </Button>
        </>
      }
    >
      Backup codes are shown once. Each signs you in once when your authenticator is not at hand.
    </ShownOnce>
  )
}
