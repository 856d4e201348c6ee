package cells;

import java.io.Serializable;
import java.util.*;

/** Arrays of arrays of a type variable, which Kryo takes for arrays of something else. */
public class CellsOf {
    public static class Cells<T> implements Serializable { private static final long serialVersionUID = 1; public T[][] cells; }
    public static class Rows<T> implements Serializable { private static final long serialVersionUID = 1; public T[] row; }
    public static class Lists<T> implements Serializable { private static final long serialVersionUID = 1; public List<T[]> list; public List<T[][]> deep; public Map<String, T[]> map; }
    public static class Bounded<T extends String> implements Serializable { private static final long serialVersionUID = 1; public T[][] cells; }
    public static class BoundedRow<T extends String> implements Serializable { private static final long serialVersionUID = 1; public T one; public T[] row; public List<T> list; public List<T[]> rows; }
    public static class Cubes<T> implements Serializable { private static final long serialVersionUID = 1; public T[][][] cubes; }
    public static class Strings extends Cells<String> { private static final long serialVersionUID = 1; }
    public static class Holder implements Serializable { private static final long serialVersionUID = 1; public Cells<String> strings; public Cells<Integer> numbers; public Cells<Object> objects; public Cells<Tip> leaves; public Rows<String> row; public Lists<String> lists; public Cubes<String> cubes; public BoundedRow<String> bounded; public Bounded<String> boundedCells; public Cells<Long>[] many; public List<Cells<String>> list; }
    public static class Tip implements Serializable { private static final long serialVersionUID = 1; public int a; public boolean equals(Object o) { return o instanceof Tip && ((Tip) o).a == a; } public int hashCode() { return a; } }
    static <T> Cells<T> cells(T[][] c) { Cells<T> m = new Cells<>(); m.cells = c; return m; }
    public static Map<String, Object> samples() {
        Map<String, Object> m = new LinkedHashMap<>(); Holder h;
        m.put("raw", cells(new String[][] {{"a", null}, {}, null}));
        m.put("rawObjects", cells(new Object[][] {{"a", 5}, {}}));
        Strings s = new Strings(); s.cells = new String[][] {{"a"}, null}; m.put("strings", s);
        Bounded<String> b = new Bounded<>(); b.cells = new String[][] {{"a"}, null}; m.put("bounded", b);
        BoundedRow<String> r = new BoundedRow<>(); r.one = "a"; r.row = new String[] {"b", null}; r.list = new ArrayList<>(List.of("c", "d")); r.rows = new ArrayList<>(); r.rows.add(new String[] {"e"}); m.put("boundedRow", r);
        r = new BoundedRow<>(); m.put("boundedNull", r);
        h = new Holder(); h.bounded = r; h.boundedCells = b; m.put("hBounded", h);
        h = new Holder(); h.strings = cells(new String[][] {{"a", null}, {}, null}); m.put("hStrings", h);
        h = new Holder(); h.strings = cells(new String[][] {}); m.put("hEmpty", h);
        h = new Holder(); h.strings = cells(null); m.put("hNull", h);
        h = new Holder(); h.numbers = cells(new Integer[][] {{1, null}, {}}); m.put("hNumbers", h);
        h = new Holder(); h.objects = cells(new Object[][] {{1, "a"}, {}}); m.put("hObjects", h);
        h = new Holder(); h.leaves = cells(new Tip[][] {{new Tip()}, {}}); m.put("hLeaves", h);
        h = new Holder(); h.row = new Rows<>(); h.row.row = new String[] {"a", null}; m.put("hRow", h);
        h = new Holder(); h.lists = new Lists<>(); h.lists.list = new ArrayList<>(List.of(new String[][] {{"a"}, {}})); m.put("hList", h);
        h = new Holder(); h.lists = new Lists<>(); h.lists.deep = new ArrayList<>(); h.lists.deep.add(new String[][] {{"a"}, {}}); m.put("hDeep", h);
        h = new Holder(); h.lists = new Lists<>(); h.lists.map = new HashMap<>(); h.lists.map.put("k", new String[] {"a"}); m.put("hMap", h);
        h = new Holder(); h.cubes = new Cubes<>(); h.cubes.cubes = new String[][][] {{{"a"}}}; m.put("hCubes", h);
        h = new Holder(); h.many = new Cells[] {cells(new Long[][] {{1L}})}; m.put("hMany", h);
        h = new Holder(); h.list = new ArrayList<>(List.of(cells(new String[][] {{"a"}}))); m.put("hListOf", h);
        return m;
    }
}
