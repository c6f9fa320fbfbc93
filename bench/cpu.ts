import { readdirSync, readFileSync } from 'node:fs'

/** The length of a tick of /proc in milliseconds: the kernel always reports 100 a second. */
const TICK_MS = 10

/** Returns the child processes of a process, by default of this one. Empty without /proc. */
export function children(of: number = process.pid): Set<number> {
  try {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
    return new Set(pids.filter((pid) => fieldsOf(pid)?.[1] === String(of)))
  } catch {
    return new Set()
  }
}

/**
 * Returns the user and system time of processes in milliseconds, including children that have ended.
 * Returns null if the system does not report it.
 */
export function cpuOf(pids: readonly number[]): number | null {
  const all = pids.map(fieldsOf).filter((fields) => fields !== null)
  const ticks = all.flatMap((fields) => fields.slice(11, 15).map(Number))
  return all.length === 0 ? null : ticks.reduce((sum, n) => sum + n, 0) * TICK_MS
}

/** Returns the fields after the name, which may contain spaces. @see proc_pid_stat(5) */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
