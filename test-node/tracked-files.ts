import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})

/** The files that git tracks or would track; null outside a clone. */
export const trackedFiles: readonly string[] | null =
  listed.status === 0 ? listed.stdout.split('\0').filter((path) => path && existsSync(path)) : null

/** Why a test of these files is skipped; false if it is not. */
export const skipWithoutGit = trackedFiles ? false : 'this is not a git clone'
