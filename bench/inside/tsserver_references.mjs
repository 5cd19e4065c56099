// Run by Node with the package typescript: read places of definitions as JSON, print the references of each.
//   node tsserver_references.mjs TYPESCRIPT ROOT < [[path, line, column], ...]
import { createRequire } from 'node:module'
import fs from 'node:fs'
import path from 'node:path'

const ts = createRequire(path.resolve(process.argv[2], 'x.js'))('typescript')
const root = fs.realpathSync(process.argv[3])
const files = []
const walk = folder => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'node_modules') walk(file)
    else if (/\.(ts|tsx|mts|cts|js|jsx)$/.test(entry.name)) files.push(file)
  }
}
walk(root)
const options = { allowJs: true, noEmit: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve, skipLibCheck: true }
const host = {
  getScriptFileNames: () => files,
  getScriptVersion: () => '1',
  getScriptSnapshot: file => (fs.existsSync(file) ? ts.ScriptSnapshot.fromString(fs.readFileSync(file, 'utf8')) : undefined),
  getCurrentDirectory: () => root,
  getCompilationSettings: () => options,
  getDefaultLibFileName: o => ts.getDefaultLibFilePath(o),
  fileExists: ts.sys.fileExists, readFile: ts.sys.readFile, readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists, getDirectories: ts.sys.getDirectories,
}
const service = ts.createLanguageService(host, ts.createDocumentRegistry())
const wanted = JSON.parse(fs.readFileSync(0, 'utf8'))
const found = wanted.map(([name, line, column]) => {
  const file = path.join(root, name)
  const text = fs.readFileSync(file, 'utf8')
  const start = text.split('\n').slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column
  try {
    const groups = service.findReferences(file, start) ?? []
    const places = groups.flatMap(group => group.references).filter(one => !one.isDefinition).map(one => {
      const source = service.getProgram().getSourceFile(one.fileName)
      return [path.relative(root, one.fileName), source.getLineAndCharacterOfPosition(one.textSpan.start).line + 1]
    })
    return places.filter(([file]) => !file.startsWith('..'))
  } catch { return null }
})
console.log(JSON.stringify(found))
