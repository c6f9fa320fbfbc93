import { afterEach } from 'vitest'

/** Gives limits back their values after each test of the file, which may change them. Returns these values. */
export function restoring<Limits extends object>(limits: Limits): Limits {
  const usual = { ...limits }
  afterEach(() => void Object.assign(limits, usual))
  return usual
}
