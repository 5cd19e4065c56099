// Read places of definitions as JSON, and print the uses of each that javac finds in a folder.
//   java JavaReferences.java ROOT < [[path, line, column], ...]
// Errors are passed over: what is defined and used in the folder is known.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import javax.lang.model.element.Element;
import javax.tools.*;

public class JavaReferences {
    public static void main(String[] given) throws Exception {
        Path root = Path.of(given[0]).toRealPath();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
        List<Path> paths;
        try (var walked = Files.walk(root)) {
            paths = walked.filter(p -> p.toString().endsWith(".java") && !p.endsWith("module-info.java")).toList();
        }
        JavacTask task = (JavacTask) compiler.getTask(null, files, d -> {}, List.of("-proc:none", "-XDshould-stop.ifError=FLOW"), null, files.getJavaFileObjectsFromPaths(paths));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        Trees trees = Trees.instance(task);
        Map<Element, String> defined = new IdentityHashMap<>();
        Map<String, Element> byPlace = new HashMap<>();
        Map<Element, Set<String>> uses = new IdentityHashMap<>();
        for (CompilationUnitTree unit : units) {
            String path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            String[] lines = unit.getSourceFile().getCharContent(true).toString().split("\n", -1);
            new TreePathScanner<Void, Void>() {
                long lineOf(Tree tree, String name) {
                    long at = trees.getSourcePositions().getStartPosition(unit, tree), end = trees.getSourcePositions().getEndPosition(unit, tree);
                    long line = unit.getLineMap().getLineNumber(Math.max(at, 0)), last = end < 0 ? line : unit.getLineMap().getLineNumber(end);
                    Pattern word = Pattern.compile("\\b" + Pattern.quote(name) + "\\b(?!\\s*:)");
                    for (long n = line; n <= last; n++) if (word.matcher(lines[(int) n - 1]).find()) return n;
                    return line;
                }
                void define(Tree tree, String name) {
                    Element element = trees.getElement(getCurrentPath());
                    if (element != null) byPlace.putIfAbsent(path + ":" + lineOf(tree, name) + ":" + name, element);
                }
                void use(Tree tree, String name, boolean isEnd) {
                    Element element = trees.getElement(getCurrentPath());
                    if (element == null || trees.getSourcePositions().getStartPosition(unit, tree) < 0) return;
                    long end = trees.getSourcePositions().getEndPosition(unit, tree);
                    long line = end < 0 ? lineOf(tree, name) : unit.getLineMap().getLineNumber(isEnd ? end - 1 : trees.getSourcePositions().getStartPosition(unit, tree));
                    uses.computeIfAbsent(element, e -> new TreeSet<>()).add(path + ":" + line);
                }
                @Override public Void visitClass(ClassTree t, Void v) { define(t, t.getSimpleName().toString()); return super.visitClass(t, v); }
                @Override public Void visitMethod(MethodTree t, Void v) { define(t, t.getName().contentEquals("<init>") ? "" : t.getName().toString()); return super.visitMethod(t, v); }
                @Override public Void visitVariable(VariableTree t, Void v) { define(t, t.getName().toString()); return super.visitVariable(t, v); }
                @Override public Void visitIdentifier(IdentifierTree t, Void v) { use(t, t.getName().toString(), false); return super.visitIdentifier(t, v); }
                @Override public Void visitMemberSelect(MemberSelectTree t, Void v) { use(t, t.getIdentifier().toString(), true); return super.visitMemberSelect(t, v); }
                @Override public Void visitMemberReference(MemberReferenceTree t, Void v) { use(t, t.getName().toString(), true); return super.visitMemberReference(t, v); }
            }.scan(unit, null);
        }
        String input = new String(System.in.readAllBytes());
        Matcher wanted = Pattern.compile("\\[\"([^\"]+)\", (\\d+), (\\d+)\\]").matcher(input);
        List<String> found = new ArrayList<>();
        while (wanted.find()) {
            String line = Files.readAllLines(root.resolve(wanted.group(1))).get(Integer.parseInt(wanted.group(2)) - 1);
            Matcher name = Pattern.compile("\\w+").matcher(line.substring(Integer.parseInt(wanted.group(3))));
            Element element = name.find() ? byPlace.get(wanted.group(1) + ":" + wanted.group(2) + ":" + name.group()) : null;
            if (element == null) { found.add("null"); continue; }
            List<String> places = new ArrayList<>();
            for (String use : uses.getOrDefault(element, Set.of())) places.add("[\"" + use.replaceFirst(":(\\d+)$", "\", $1]"));
            found.add(places.toString());
        }
        System.out.println(found);
    }
}
