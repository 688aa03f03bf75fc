import { Text } from '@mantine/core'
import classes from './FormProblem.module.css'

/** A refusal that belongs to no field. */
export function FormProblem({ children }: { children: string | null }) {
  if (children === null) return null
  return (
    <Text role="alert" className={classes.problem}>
      {children}
    </Text>
  )
}
