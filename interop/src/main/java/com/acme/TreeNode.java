package com.acme;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Parent and children know each other. */
public class TreeNode implements Serializable {
    private static final long serialVersionUID = 1L;

    private String name;
    private TreeNode parent;
    private List<TreeNode> children = new ArrayList<>();

    public TreeNode() {
    }

    public TreeNode(String name, TreeNode... children) {
        this.name = name;
        for (TreeNode child : children) {
            child.parent = this;
            this.children.add(child);
        }
    }
}
