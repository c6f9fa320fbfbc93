/**
 * Returns one reference token of a JSON Pointer, escaped and with its leading slash.
 *
 * @see [RFC 6901 §3](https://www.rfc-editor.org/rfc/rfc6901#section-3) JSON Pointer
 */
export const pointerStep = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Returns the name of the member that a JSON Pointer ends with, unescaped. */
export const lastMember = (pointer: string) =>
  pointer
    .slice(pointer.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
