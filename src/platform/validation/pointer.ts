/**
 * Returns one reference token of a JSON Pointer, escaped and with its leading slash.
 *
 * @see [RFC 6901 §3](https://www.rfc-editor.org/rfc/rfc6901#section-3) JSON Pointer
 */
export const pointerStep = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

const unescapeStep = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')

/** Returns the name of the member that a JSON Pointer ends with, unescaped. */
export const lastMember = (pointer: string) =>
  unescapeStep(pointer.slice(pointer.lastIndexOf('/') + 1))

/** Returns a JSON Pointer with each of its names, unescaped, changed by `toName`. */
export const mapPointer = (pointer: string, toName: (name: string) => string) =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => pointerStep(toName(unescapeStep(step))))
    .join('')
