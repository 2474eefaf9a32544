/** A Database of better-sqlite3, or a DatabaseSync of node:sqlite made with allowExtension: true. */
export interface ExtensibleDatabase {
  loadExtension(path: string, entryPoint?: string): unknown;
}

/** Load the extension; with { files: false } its tables and functions take BLOBs alone, and no path is opened. */
export function load(db: ExtensibleDatabase, options?: { files?: boolean }): void;

/** The path of the library: what `.load`, loadExtension() and load_extension() take. */
export function loadablePath(): string;
