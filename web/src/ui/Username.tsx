/** Whose password the form is about, for password managers: every form with a password names its account. */
export function Username({ value }: { value: string }) {
  return <input type="text" name="username" autoComplete="username" value={value} readOnly hidden />
}
