/** A function that makes something of a secret's text once an isolate: keys cost much to read. */
export function oncePer<T>(make: (secret: string) => T): (secret: string) => T {
  const made = new Map<string, T>()
  return (secret) => {
    const found = made.get(secret) ?? make(secret)
    made.set(secret, found)
    return found
  }
}
