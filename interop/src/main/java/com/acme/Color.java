package com.acme;

public enum Color {
    RED, GREEN, BLUE
}
